#include "sim/ptx/lanes/routine.hpp"

#include <unordered_map>
#include <utility>

namespace warptwin::ptx {

namespace {

void add_constants(Routine& routine) {
  std::unordered_map<std::uint64_t, std::uint32_t> known;
  for (const Argument& argument : routine.code.arguments) {
    routine.constant_of.push_back(kNoIndex);
    if (argument.kind != Argument::Kind::kNumber) {
      continue;
    }
    const auto [index, added] =
        known.try_emplace(argument.value, static_cast<std::uint32_t>(routine.constants.size()));
    if (added) {
      routine.constants.push_back(Lanes::all(argument.value));
    }
    routine.constant_of.back() = index->second;
  }
}

ScalarStep step_of(const Routine& routine, std::size_t index) {
  const Op& op = routine.code.ops[index];
  const Scalar& scalar = routine.scalars[index];
  ScalarStep step;
  step.guard = op.guarded() ? routine.slots[op.guard] : kNoIndex;
  step.guard_negated = op.source->guard_negated;
  if (op.is("bra")) {
    step.branches = routine.code.arguments_of(op)[0].index;
  }
  if (scalar.execute == nullptr || scalar.reads_carry || scalar.writes_carry || op.count < 2 ||
      op.count - 1 > ScalarStep::kSources) {
    return step;
  }
  const auto arguments = routine.code.arguments_of(op);
  const auto narrow = [&](const Argument& argument) {
    return argument.kind == Argument::Kind::kRegister && routine.bits_of(argument.index) <= 64;
  };
  const auto first = static_cast<std::size_t>(arguments.data() - routine.code.arguments.data());
  for (std::size_t source = 1; source < arguments.size(); ++source) {
    const Argument& argument = arguments[source];
    if (argument.kind == Argument::Kind::kNumber) {
      step.source[source - 1] = ScalarStep::kConstant | routine.constant_of[first + source];
    } else if (narrow(argument) && !argument.negated) {
      step.source[source - 1] = routine.slots[argument.index];
    } else {
      return step;
    }
  }
  const Modifiers& modifiers = op.source->modifiers;
  if (!narrow(arguments[0]) || bits_of(modifiers.type()) > 64) {
    return step;
  }
  step.sources = op.count - 1;
  step.target = routine.slots[arguments[0].index];
  step.bits = routine.bits_of(arguments[0].index);
  step.renames = op.is("mov") && arguments[1].kind == Argument::Kind::kRegister;
  step.same_size = op.count == 2 && arguments[1].kind == Argument::Kind::kRegister &&
                   routine.bits_of(arguments[1].index) <= step.bits;
  step.type = modifiers.type(0);
  step.source_type = modifiers.type_count > 1 ? modifiers.type(1) : step.type;
  step.modifiers = &modifiers;
  step.scalar = &scalar;
  return step;
}

Routine routine_of(Code&& code) {
  Routine routine;
  routine.code = std::move(code);
  routine.flow = flow_of(routine.code);
  for (const Op& op : routine.code.ops) {
    routine.scalars.push_back(find_scalar(op));
  }
  for (const Register& each : routine.code.registers) {
    routine.slots.push_back(routine.slot_count);
    routine.slot_count += bits_of(each.type) > 64 ? 2 : 1;
  }
  add_constants(routine);
  return routine;
}

// Once it stays where it is.
void add_steps(Routine& routine) {
  for (std::size_t op = 0; op < routine.code.ops.size(); ++op) {
    routine.steps.push_back(step_of(routine, op));
  }
}

}  // namespace

Program::Program(Module module) : module_{std::move(module)} {
  for (Code& code : decode(module_)) {
    routines_.push_back(ptx::routine_of(std::move(code)));
  }
  for (Routine& routine : routines_) {
    add_steps(routine);
  }
  by_function_.resize(module_.functions.size());
  for (const Routine& routine : routines_) {
    by_function_[static_cast<std::size_t>(routine.code.function - module_.functions.data())] =
        &routine;
  }
}

const Routine& Program::kernel(std::string_view name) const {
  std::string names;
  for (const Routine& routine : routines_) {
    const Function& function = *routine.code.function;
    if (!function.is_entry) {
      continue;
    }
    if (function.name == name) {
      return routine;
    }
    names += (names.empty() ? "" : ", ") + std::string{function.name};
  }
  throw ConfigError(module_.file + " has no kernel '" + std::string{name} + "'" +
                    (names.empty() ? "" : "; it has " + names));
}

}  // namespace warptwin::ptx
