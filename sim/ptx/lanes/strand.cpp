#include "sim/ptx/lanes/strand.hpp"

#include <algorithm>
#include <utility>

#include "sim/ptx/lanes/executor.hpp"

namespace warptwin::ptx {

Strand Strand::begin(const Routine& kernel, Mask lanes) {
  Strand strand;
  strand.frame = std::make_shared<Frame>(kernel);
  strand.mask = lanes;
  return strand;
}

Stop Strand::run(const Program& program,
                 Surroundings& surroundings,
                 std::uint64_t steps,
                 InstructionWatch* watch) {
  Executor executor{program, surroundings, *this, watch};
  Stop reached = executor.run(steps);
  reached.instructions = executor.executed();
  return reached;
}

void Strand::write(const Stop& stop, std::size_t operand, std::size_t part, const Lanes& value) {
  const Routine& routine = *frame->routine;
  const Argument* target = &routine.code.arguments_of(routine.code.ops[stop.op])[operand];
  if (target->kind == Argument::Kind::kVector || target->kind == Argument::Kind::kPair) {
    target = &routine.code.parts_of(*target)[part];
    part = 0;
  }
  if (target->kind == Argument::Kind::kSink) {
    return;
  }
  const std::uint32_t bits = routine.bits_of(target->index);
  Lanes& slot = frame->slots[routine.slots[target->index] + part];
  write_lanes(slot, value, std::min(bits, 64U), stop.mask);
}

ParameterBytes& Strand::parameter(const Variable& variable) {
  return frame->parameters.try_emplace(&variable, ParameterBytes{variable.bytes()}).first->second;
}

bool Strand::merge(const Strand& other) {
  if (frame != other.frame || pc != other.pc || (mask & other.mask) != 0) {
    return false;
  }
  mask |= other.mask;
  // Of joins that only one of them still waits for nothing is left to come together.
  std::vector<Join> common;
  for (const Join& join : joins) {
    const bool shared = std::any_of(other.joins.begin(), other.joins.end(), [&](const Join& each) {
      return each.frame == join.frame && each.op == join.op;
    });
    if (shared) {
      common.push_back(join);
    }
  }
  joins = std::move(common);
  return true;
}

}  // namespace warptwin::ptx
