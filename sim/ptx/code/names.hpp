/// What a name means where it stands: inside of decode.

#pragma once

#include <string_view>
#include <unordered_map>
#include <vector>

#include "sim/ptx/code/code.hpp"

namespace warptwin::ptx {

/// The names outside of functions.
struct ModuleNames {
  explicit ModuleNames(const Module& module);
  std::unordered_map<std::string_view, const Variable*> variables;
  std::unordered_map<std::string_view, std::uint32_t> functions;
};

/// The names in one function, from an inner scope to an outer one.
class Names {
 public:
  Names(const ModuleNames& module, const Function& function);

  /// The number of a register, new where it is named first; none where nothing declares it.
  std::optional<std::uint32_t> find_register(std::string_view name,
                                             std::uint8_t component,
                                             std::uint32_t scope);
  /// How many components the register has: 1, 2 or 4; 0 where nothing declares it.
  std::uint8_t vector_of(std::string_view name, std::uint32_t scope) const;
  std::optional<VariableUse> find_variable(std::string_view name, std::uint32_t scope) const;
  std::optional<std::uint32_t> find_function(std::string_view name) const;
  std::optional<std::uint32_t> find_label(std::string_view name, std::uint32_t scope) const;
  /// Sets `scope` to that which has the list: its names are looked up there.
  const TargetList* find_targets(std::string_view name, std::uint32_t& scope) const;
  const Prototype* find_prototype(std::string_view name, std::uint32_t scope) const;

  std::vector<Register> registers;

 private:
  struct ScopeNames {
    std::unordered_map<std::string_view, const RegisterRange*> single;
    std::unordered_map<std::string_view, const RegisterRange*> ranges;  // numbered: "a<2>"
    std::unordered_map<std::string_view, const Variable*> variables;
    std::unordered_map<std::string_view, std::uint32_t> numbers;  // of what it declares
  };
  struct Declared {
    const RegisterRange* range = nullptr;
    std::uint32_t scope = 0;
  };
  Declared declared(std::string_view name, std::uint32_t scope) const;

  const ModuleNames& module_;
  const Function& function_;
  std::vector<ScopeNames> scopes_;
  std::unordered_map<std::string_view, VariableUse> parameters_;
};

}  // namespace warptwin::ptx
