#include "sim/ptx/code/names.hpp"

#include <algorithm>
#include <charconv>

namespace warptwin::ptx {

namespace {

constexpr std::size_t kDigitsMax = 8;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

}  // namespace

ModuleNames::ModuleNames(const Module& module) {
  for (const Variable& variable : module.variables) {
    const Variable*& known = variables[variable.name];
    // Of several declarations that one counts that is not extern.
    if (known == nullptr || known->linkage.is_extern) {
      known = &variable;
    }
  }
  for (std::uint32_t index = 0; index < module.functions.size(); ++index) {
    functions[module.functions[index].name] = index;
  }
}

Names::Names(const ModuleNames& module, const Function& function)
    : module_{module}, function_{function}, scopes_(function.scopes.size()) {
  for (std::size_t index = 0; index < scopes_.size(); ++index) {
    for (const RegisterRange& range : function.scopes[index].registers) {
      (range.count == 0 ? scopes_[index].single : scopes_[index].ranges)[range.name] = &range;
    }
    for (const Variable& variable : function.scopes[index].variables) {
      scopes_[index].variables[variable.name] = &variable;
    }
  }
  for (const Variable& variable : function.prototype.parameters) {
    parameters_[variable.name] = {&variable, VariableUse::Owner::kParameter};
  }
  for (const Variable& variable : function.prototype.returns) {
    parameters_[variable.name] = {&variable, VariableUse::Owner::kReturn};
  }
}

// "%r12" is number 12 of "%r", or 2 of "%r1".
Names::Declared Names::declared(std::string_view name, std::uint32_t scope) const {
  for (; scope != kNoIndex; scope = function_.scopes[scope].parent) {
    const auto& single = scopes_[scope].single;
    const auto& ranges = scopes_[scope].ranges;
    if (const auto found = single.find(name); found != single.end()) {
      return {found->second, scope};
    }
    if (ranges.empty()) {
      continue;
    }
    const std::size_t most = std::min(kDigitsMax, name.size() - 1);
    for (std::size_t digits = 1; digits <= most && is_digit(name[name.size() - digits]); ++digits) {
      const std::string_view text = name.substr(name.size() - digits);
      const auto found = ranges.find(name.substr(0, name.size() - digits));
      if (found == ranges.end() || (digits > 1 && text.front() == '0')) {
        continue;
      }
      std::uint32_t number = 0;
      std::from_chars(text.data(), text.data() + digits, number);
      if (number < found->second->count) {
        return {found->second, scope};
      }
    }
  }
  return {};
}

std::uint8_t Names::vector_of(std::string_view name, std::uint32_t scope) const {
  const Declared found = declared(name, scope);
  return found.range == nullptr ? std::uint8_t{0} : found.range->vector;
}

std::optional<std::uint32_t> Names::find_register(std::string_view name,
                                                  std::uint8_t component,
                                                  std::uint32_t scope) {
  const Declared found = declared(name, scope);
  if (found.range == nullptr || component > found.range->vector ||
      (component == 0) != (found.range->vector == 1)) {
    return std::nullopt;
  }
  // The components of a vector register are registers side by side.
  const auto [number, added] =
      scopes_[found.scope].numbers.try_emplace(name, static_cast<std::uint32_t>(registers.size()));
  if (added) {
    for (std::uint8_t each = 0; each < found.range->vector; ++each) {
      const auto place = static_cast<std::uint8_t>(found.range->vector == 1 ? 0 : each + 1);
      registers.push_back({name, place, found.range->type});
    }
  }
  return number->second + (component == 0 ? 0 : component - 1);
}

std::optional<VariableUse> Names::find_variable(std::string_view name, std::uint32_t scope) const {
  for (; scope != kNoIndex; scope = function_.scopes[scope].parent) {
    const auto& variables = scopes_[scope].variables;
    if (const auto found = variables.find(name); found != variables.end()) {
      return VariableUse{found->second, VariableUse::Owner::kLocal};
    }
  }
  if (const auto found = parameters_.find(name); found != parameters_.end()) {
    return found->second;
  }
  if (const auto found = module_.variables.find(name); found != module_.variables.end()) {
    return VariableUse{found->second, VariableUse::Owner::kModule};
  }
  return std::nullopt;
}

std::optional<std::uint32_t> Names::find_function(std::string_view name) const {
  const auto found = module_.functions.find(name);
  return found == module_.functions.end() ? std::nullopt : std::optional{found->second};
}

std::optional<std::uint32_t> Names::find_label(std::string_view name, std::uint32_t scope) const {
  for (; scope != kNoIndex; scope = function_.scopes[scope].parent) {
    const auto& labels = function_.scopes[scope].labels;
    if (const auto found = labels.find(name); found != labels.end()) {
      return found->second;
    }
  }
  return std::nullopt;
}

const TargetList* Names::find_targets(std::string_view name, std::uint32_t& scope) const {
  for (; scope != kNoIndex; scope = function_.scopes[scope].parent) {
    const auto& targets = function_.scopes[scope].targets;
    if (const auto found = targets.find(name); found != targets.end()) {
      return &found->second;
    }
  }
  return nullptr;
}

const Prototype* Names::find_prototype(std::string_view name, std::uint32_t scope) const {
  for (; scope != kNoIndex; scope = function_.scopes[scope].parent) {
    const auto& prototypes = function_.scopes[scope].prototypes;
    if (const auto found = prototypes.find(name); found != prototypes.end()) {
      return found->second.get();
    }
  }
  return nullptr;
}

}  // namespace warptwin::ptx
