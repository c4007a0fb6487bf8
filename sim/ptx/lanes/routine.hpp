/// A decoded function, ready to be executed.

#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "sim/ptx/code/flow.hpp"
#include "sim/ptx/lanes/scalar.hpp"

namespace warptwin::ptx {

/// A branch, or a scalar op whose operands are registers and numbers of at most 64 bits, ready to
/// be executed.
struct ScalarStep {
  static constexpr std::size_t kSources = 3;

  const Scalar* scalar = nullptr;     // nullptr: the op is no such one
  std::uint32_t branches = kNoIndex;  // to this op, where all lanes do; kNoIndex: it does not
  std::uint32_t sources = 0;
  /// A slot, or behind `kConstant` a constant.
  static constexpr std::uint32_t kConstant = std::uint32_t{1} << 31;
  std::uint32_t source[kSources] = {};
  std::uint32_t target = 0;  // slot
  std::uint32_t bits = 64;   // of it
  std::uint32_t guard = kNoIndex;
  bool guard_negated = false;
  bool same_size = false;  // the target is no smaller than the register that is its only source
  bool renames = false;    // mov of a register: what the target holds is as new as the source
  Type type = Type::kNone;
  Type source_type = Type::kNone;
  const Modifiers* modifiers = nullptr;
};

struct Routine {
  Code code;
  Flow flow;
  std::vector<Scalar> scalars;       // of each op
  std::vector<ScalarStep> steps;     // likewise
  std::vector<std::uint32_t> slots;  // of each register: where its lanes begin
  std::uint32_t slot_count = 0;
  std::vector<Lanes> constants;            // numbers in operands, in every lane
  std::vector<std::uint32_t> constant_of;  // of each of the code's arguments; kNoIndex: no number

  std::uint32_t bits_of(std::uint32_t number) const {
    return ptx::bits_of(code.registers[number].type);
  }
};

/// All functions of a module that have bodies. Stays where it is: codes point into its module.
class Program {
 public:
  /// Throws SyntaxError, as `decode`.
  explicit Program(Module module);
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  const Module& module() const { return module_; }
  const std::vector<Routine>& routines() const { return routines_; }
  /// The body of function `index` of the module; nullptr where it has none.
  const Routine* routine_of(std::uint32_t index) const { return by_function_[index]; }
  /// Throws ConfigError, with the kernels there are.
  const Routine& kernel(std::string_view name) const;

 private:
  Module module_;
  std::vector<Routine> routines_;
  std::vector<const Routine*> by_function_;
};

}  // namespace warptwin::ptx
