/// The table of instruction forms: which opcode takes which modifiers, types and operands.

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/ptx/text/module.hpp"

namespace warptwin::ptx {

/// What kind of thing an instruction asks for.
enum class Group : std::uint8_t {
  kScalar,   // registers to registers
  kControl,  // branches, calls, ends
  kAddress,  // between address spaces
  kMemory,   // loads, stores, atomics, prefetches
  kCopy,     // asynchronous copies, their groups, tensor maps
  kBarrier,  // mbarriers, CTA and cluster barriers
  kFence,
  kWarp,    // lanes of a warp between each other
  kTensor,  // mma, wgmma, and moving their fragments
  kTcgen05,
  kLaunch,  // registers of a warp, dependent grids, cluster launch control, sleeping
};

std::string_view name_of(Group group);

/// One of these modifiers, or where it is optional none.
struct ModifierChoice {
  ModifierSet of;
  bool optional = false;
  std::string text;  // "rn|rz", for errors
};

enum class Role : std::uint8_t {
  kWrite,    // d: a register, a vector of them, a|b, or _
  kRead,     // s: a register, a number, a special register, a variable, or a vector
  kUpdate,   // u: read and written
  kAddress,  // m: [ ]
  kAny,      // x: a source or an address
  kLabel,    // l
  kTargets,  // t: the label of a .branchtargets
};

struct OperandRule {
  Role role = Role::kRead;
  bool optional = false;
  /// What a register there holds: a type, a place in the instruction's types, or nothing that is
  /// checked.
  Type type = Type::kNone;
  std::uint8_t type_place = kUnchecked;
  bool wide = false;  // twice the bits of it

  static constexpr std::uint8_t kUnchecked = 255;
};

struct Form {
  std::string_view name;  // the base opcode: "cp.async.bulk.tensor"
  std::string_view root;  // up to its first dot
  Group group = Group::kScalar;
  ModifierSet base;     // the words of its name
  ModifierSet allowed;  // all it takes, the base with it
  std::vector<ModifierChoice> choices;
  std::vector<std::vector<Type>> types;  // of each place
  bool has_shape = false;
  std::vector<OperandRule> operands;
};

/// All of them, in the table's order.
std::span<const Form> forms();

/// What `find_form` says of one instruction.
struct FormMatch {
  const Form* form = nullptr;  // nullptr: the table does not have it
  std::string reason;          // then why: "add takes no .sync"
};

/// The form of an instruction's opcode, modifiers and operands.
FormMatch find_form(const Instruction& instruction);
/// Which rule each of `count` operands follows, where the form takes so many.
std::vector<const OperandRule*> rules_of(const Form& form, std::size_t count);
/// The same of a mnemonic alone, as "add.s32".
FormMatch find_form(std::string_view mnemonic);

}  // namespace warptwin::ptx
