// Which tries are waits.

#include <algorithm>
#include <bit>
#include <set>

#include "sim/ptx/machine/kernel.hpp"

namespace warptwin::ptx {

namespace {

/// A loop that has not come back after so many instructions is none.
constexpr std::uint32_t kLoopMax = 256;

/// Nothing is known of the warp: what the loop asks for stays unknown.
class NoSurroundings : public Surroundings {
 public:
  Lanes special(SpecialRegister) override { return Lanes::unknown(); }
  std::uint64_t address_of(const VariableUse&) override { return 0; }
  std::uint64_t address_of(const Function&) override { return 0; }
  const Function* function_at(std::uint64_t) override { return nullptr; }
};

}  // namespace

std::optional<WaitLoop> wait_loop(const Program& program,
                                  const Routine& routine,
                                  std::uint32_t op) {
  const Code& code = routine.code;
  const auto arguments = code.arguments_of(code.ops[op]);
  if (code.ops[op].guarded() || arguments.empty() ||
      arguments[0].kind != Argument::Kind::kRegister) {
    return std::nullopt;
  }
  // All registers are unknown but the answer: a branch that depends on another one ends the way.
  NoSurroundings surroundings;
  Strand strand = Strand::begin(routine, 1);
  strand.pc = op;
  Stop asked;
  asked.op = op;
  asked.mask = 1;
  strand.write(asked, 0, 0, Lanes{});
  strand.pc = op + 1;
  std::set<std::uint32_t> written;
  for (std::uint32_t step = 0; step < kLoopMax && strand.pc < code.ops.size(); ++step) {
    if (strand.pc == op) {
      const Liveness liveness{code, routine.flow};
      const auto live = liveness.live_before(op);
      WaitLoop loop;
      for (const std::uint32_t number : live) {
        const Lanes& value = strand.frame->slots[routine.slots[number]];
        if (written.contains(number) && (value.poison[0] != 0 || routine.bits_of(number) > 64)) {
          return std::nullopt;
        }
        if (written.contains(number)) {
          loop.rewrites.emplace_back(routine.slots[number], value.value[0]);
        }
      }
      return loop;
    }
    const Op& next = code.ops[strand.pc];
    code.for_each_register(next, [&](std::uint32_t number, bool writes) {
      if (writes) {
        written.insert(number);
      }
    });
    const std::uint32_t before = strand.pc;
    const Stop stop = strand.run(program, surroundings, 1);
    if (stop.kind == Stop::Kind::kRequest && next.is("nanosleep")) {
      strand.complete(stop);
    } else if (stop.kind != Stop::Kind::kSteps && stop.kind != Stop::Kind::kJoin) {
      return std::nullopt;
    } else if (stop.kind == Stop::Kind::kSteps && strand.pc == before && !next.is("bra")) {
      return std::nullopt;
    }
  }
  return std::nullopt;
}

namespace {

/// What a strand does behind a load that brings `value`.
struct AfterLoad {
  bool returns = false;                     // to the load, all else as it was
  std::optional<std::uint32_t> compared{};  // what the value is first compared with
  /// The comparison is for equality, and nothing else on the way reads the value.
  bool only_compared = true;
};

AfterLoad after_load(const Program& program,
                     const Strand& strand,
                     const Stop& load,
                     std::uint32_t value) {
  AfterLoad after;
  NoSurroundings surroundings;
  Strand copy = strand;
  copy.frame = std::make_shared<Frame>(*strand.frame);
  copy.joins.clear();
  copy.write(load, 0, 0, Lanes::all(value));
  copy.pc = load.op + 1;
  const Routine& routine = *copy.frame->routine;
  const Code& code = routine.code;
  const Argument& target = code.arguments_of(code.ops[load.op])[0];
  for (std::uint32_t step = 0; step < kLoopMax && copy.pc < code.ops.size(); ++step) {
    if (copy.pc == load.op) {
      const Liveness liveness{code, routine.flow};
      after.returns = true;
      for (const std::uint32_t number : liveness.live_before(load.op)) {
        const Lanes& was = strand.frame->slots[routine.slots[number]];
        const Lanes& is = copy.frame->slots[routine.slots[number]];
        after.returns = after.returns && was.value == is.value && was.poison == is.poison;
      }
      return after;
    }
    const Op& next = code.ops[copy.pc];
    const Modifiers& modifiers = next.source->modifiers;
    const bool equality = next.is("setp") && bits_of(modifiers.type()) == 32 &&
                          !is_float(modifiers.type()) &&
                          (modifiers.has("eq"_mod) || modifiers.has("ne"_mod));
    code.for_each_register(next, [&](std::uint32_t number, bool writes) {
      const bool reads = number == target.index && !writes;
      after.only_compared = after.only_compared && !(reads && (after.compared || !equality));
    });
    if (next.is("setp") && !after.compared) {
      const auto sources = code.arguments_of(next).subspan(1);
      for (std::size_t i = 0; i < 2 && i < sources.size(); ++i) {
        const Argument& other = sources[1 - i];
        if (sources[i].kind != Argument::Kind::kRegister || sources[i].index != target.index) {
          continue;
        }
        if (other.kind == Argument::Kind::kNumber) {
          after.compared = static_cast<std::uint32_t>(other.value);
        } else if (other.kind == Argument::Kind::kRegister) {
          const auto first = static_cast<std::uint32_t>(std::countr_zero(load.mask));
          after.compared = static_cast<std::uint32_t>(
              copy.frame->slots[routine.slots[other.index]].value[first]);
        }
      }
    }
    const std::uint32_t before = copy.pc;
    const Stop stop = copy.run(program, surroundings, 1);
    if (stop.kind == Stop::Kind::kRequest && next.is("nanosleep")) {
      copy.complete(stop);
    } else if ((stop.kind != Stop::Kind::kSteps && stop.kind != Stop::Kind::kJoin) ||
               (copy.pc == before && !next.is("bra"))) {
      return after;
    }
  }
  return after;
}

}  // namespace

std::optional<std::uint32_t> polled_word(const Program& program,
                                         const Strand& strand,
                                         const Stop& load) {
  const std::optional<std::uint32_t> wanted = after_load(program, strand, load, 0).compared;
  if (!wanted) {
    return std::nullopt;
  }
  // This word ends the poll, and another does not: as the loop reads the value in one comparison
  // for equality alone, no other one does.
  const AfterLoad other = after_load(program, strand, load, *wanted + 1);
  const bool ends = !after_load(program, strand, load, *wanted).returns;
  return ends && other.returns && other.only_compared ? wanted : std::nullopt;
}

}  // namespace warptwin::ptx
