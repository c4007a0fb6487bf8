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

}  // namespace

Program::Program(Module module) : module_{std::move(module)} {
  for (Code& code : decode(module_)) {
    routines_.push_back(ptx::routine_of(std::move(code)));
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
