/// Decoded functions: operands are register numbers, variables and numbers, branches go to indices.

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/ptx/code/form.hpp"
#include "sim/ptx/code/special.hpp"
#include "sim/ptx/text/parse.hpp"

namespace warptwin::ptx {

/// An operand with its names looked up.
struct Argument {
  enum class Kind : std::uint8_t {
    kRegister,   // index: its number
    kNumber,     // value: as bits of `type`
    kSpecial,    // index: a SpecialRegister
    kVariable,   // index: of Code::variables; value is added to its address
    kFunction,   // index: of Module::functions; value is added
    kVector,     // parts
    kAddress,    // parts: base, then coordinates; value is added
    kPair,       // parts: a|b
    kList,       // parts: variables and registers of a call
    kTarget,     // index: of an op
    kTargets,    // index: of Code::targets
    kPrototype,  // index: of Code::prototypes
    kSink,
  };
  Kind kind = Kind::kSink;
  bool negated = false;
  bool written = false;
  bool read = false;
  Type type = Type::kNone;  // what the instruction takes it for; kNone: its form does not say
  std::uint32_t index = 0;
  std::uint64_t value = 0;
  std::uint32_t first = 0;  // of its parts in Code::arguments
  std::uint32_t count = 0;
};

/// An instruction with its names looked up.
struct Op {
  const Form* form = nullptr;           // nullptr: a gap; it has no arguments
  const Instruction* source = nullptr;  // as written: modifiers, position, location
  std::uint32_t guard = kNoIndex;       // a register's number
  std::uint32_t first = 0;              // of its arguments in Code::arguments
  std::uint32_t count = 0;

  bool is(std::string_view name) const { return form != nullptr && form->name == name; }
  bool guarded() const { return guard != kNoIndex; }
};

struct Register {
  std::string_view name;
  std::uint8_t component = 0;  // of a vector register: .x to .w as 1 to 4
  Type type = Type::kNone;
};

/// A variable or parameter that a function's instructions name.
struct VariableUse {
  enum class Owner : std::uint8_t { kModule, kParameter, kReturn, kLocal };
  const Variable* variable = nullptr;
  Owner owner = Owner::kModule;
};

/// What the table does not have: an error only when it is executed.
struct Gap {
  std::uint32_t op = 0;
  std::string reason;
};

/// A function's body, decoded. Points into its module, which outlives it and stays where it is.
struct Code {
  const Module* module = nullptr;
  const Function* function = nullptr;
  std::vector<Op> ops;
  std::vector<Argument> arguments;
  std::vector<Register> registers;  // those that instructions name
  std::vector<VariableUse> variables;
  std::vector<std::vector<std::uint32_t>> targets;  // ops, of a .branchtargets
  std::vector<const Prototype*> prototypes;
  /// Of each: the functions that `.calltargets` names, which are all that it is of; else none.
  std::vector<std::span<const std::string_view>> call_targets;
  std::vector<Gap> gaps;

  std::span<const Argument> arguments_of(const Op& op) const {
    return std::span{arguments}.subspan(op.first, op.count);
  }
  std::span<const Argument> parts_of(const Argument& argument) const {
    return std::span{arguments}.subspan(argument.first, argument.count);
  }
  /// Calls `visit(number, written)` for each register an op reads, its guard with them, and then
  /// for each that it writes.
  void for_each_register(const Op& op, const std::function<void(std::uint32_t, bool)>& visit) const;
  /// Whether a call never comes back.
  bool ends_in_call(const Op& op) const;
};

/// Decodes the body of `function`. A form that the table does not have is a gap. Throws
/// SyntaxError, with a line for each problem, for names that nothing declares and registers of a
/// wrong size.
Code decode(const Module& module, const Function& function);

/// The functions of a module that have bodies, in its order.
std::vector<Code> decode(const Module& module);

}  // namespace warptwin::ptx
