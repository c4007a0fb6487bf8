/// A PTX module as it was written. Names point into the text, which the module keeps.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "sim/ptx/text/lexer.hpp"
#include "sim/ptx/text/modifier.hpp"
#include "sim/ptx/text/type.hpp"

namespace warptwin::ptx {

/// "none" of an index.
inline constexpr std::uint32_t kNoIndex = ~std::uint32_t{0};

struct Linkage {
  bool is_extern = false;
  bool is_visible = false;
  bool is_weak = false;
  bool is_common = false;
};

/// One element of an initialiser: a number, or the address of a variable or function.
struct InitialValue {
  std::uint64_t element = 0;  // which element of the variable, row by row
  std::uint64_t bits = 0;     // the value; of an address what is added to it
  std::string_view symbol;    // empty: a number
  bool generic = false;       // generic(symbol): the address in the generic space
  std::uint64_t mask = 0;     // 0xff00(symbol): the byte of the address it keeps; 0: all
};

/// A variable or a parameter.
struct Variable {
  std::string_view name;
  Position position;
  Linkage linkage;
  Space space = Space::kGeneric;
  Type type = Type::kNone;
  std::uint8_t vector = 1;  // .v2, .v4
  bool is_pointer = false;  // a parameter's .ptr
  Space pointer_space = Space::kGeneric;
  std::uint32_t alignment = 0;  // bytes; of a .ptr what it points to if `pointer_alignment`
  std::uint32_t pointer_alignment = 0;
  std::vector<std::uint64_t> extents;  // of an array; 0: not said
  std::vector<InitialValue> initial;

  /// 0 of one with an extent that is not said.
  std::uint64_t bytes() const;
  /// What it has to stand at: .align, or the size of a whole element.
  std::uint32_t aligned_to() const;
};

/// .reg .b32 %r<9> is {"%r", 9}; .reg .b32 x is {"x", 0}.
struct RegisterRange {
  std::string_view name;
  std::uint32_t count = 0;
  Type type = Type::kNone;
  std::uint8_t vector = 1;
};

struct Operand {
  enum class Kind : std::uint8_t {
    kName,     // a register, a variable, a label, a function; `value` is added
    kInteger,  // value
    kFloat32,  // value: its bits
    kFloat64,
    kVector,   // {a, b}
    kAddress,  // [parts[0] + value, parts[1]...]
    kPair,     // a|b
    kList,     // (a, b) of a call
    kSink,     // _
  };
  Kind kind = Kind::kSink;
  bool negated = false;        // !p
  std::uint8_t component = 0;  // .x to .w as 1 to 4
  std::string_view name;
  std::uint64_t value = 0;
  Position position;
  std::vector<Operand> parts;
};

struct Instruction {
  std::string_view opcode;  // up to the first dot
  Modifiers modifiers;
  std::string_view guard;  // @p; empty: none
  bool guard_negated = false;
  std::vector<Operand> operands;
  std::string_view text;  // the opcode with its modifiers, as written
  Position position;
  std::uint32_t scope = 0;
  std::uint32_t location = kNoIndex;  // of Module::locations
};

/// .loc: where in the user's source an instruction comes from.
struct Location {
  std::uint32_t file = 0;
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  std::string_view function;            // a label of debug data; empty: not said
  std::uint32_t inlined_at = kNoIndex;  // of Module::locations
};

struct Prototype;

/// A list behind a label: .branchtargets or .calltargets.
struct TargetList {
  bool calls = false;
  std::vector<std::string_view> names;
};

/// { } in a function. What a name means is looked up here, then in the parent.
struct Scope {
  std::uint32_t parent = kNoIndex;
  std::vector<Variable> variables;
  std::vector<RegisterRange> registers;
  std::unordered_map<std::string_view, std::uint32_t> labels;  // index of an instruction
  std::unordered_map<std::string_view, TargetList> targets;
  std::unordered_map<std::string_view, std::shared_ptr<const Prototype>> prototypes;
};

/// What a call returns and takes.
struct Prototype {
  std::vector<Variable> returns;
  std::vector<Variable> parameters;
  bool no_return = false;
};

/// Extents of 0 are not said.
struct Directives {
  std::uint32_t required_threads[3] = {};  // .reqntid
  std::uint32_t maximal_threads[3] = {};   // .maxntid
  std::uint32_t cluster[3] = {};           // .reqnctapercluster
  std::uint32_t cluster_rank_max = 0;      // .maxclusterrank
  std::uint32_t ctas_per_sm_min = 0;       // .minnctapersm
  std::uint32_t registers_max = 0;         // .maxnreg
  bool explicit_cluster = false;
  bool blocks_are_clusters = false;
  std::vector<std::string_view> pragmas;
};

struct Function {
  std::string_view name;
  Position position;
  Linkage linkage;
  bool is_entry = false;
  bool has_body = false;
  Prototype prototype;
  Directives directives;
  std::vector<Scope> scopes;  // the first is the body
  std::vector<Instruction> instructions;
};

struct Module {
  std::string file;
  std::shared_ptr<const std::string> text;
  std::uint32_t version = 0;  // major * 10 + minor
  std::vector<std::string_view> targets;
  std::uint32_t address_bits = 64;
  std::vector<std::string_view> pragmas;
  std::unordered_map<std::uint32_t, std::string_view> files;  // .file
  std::vector<Location> locations;
  std::vector<Variable> variables;
  std::vector<Function> functions;  // a declaration and its body once, as the body
};

/// "kernel.cu:12", with what it was inlined at behind it; empty without a .loc.
std::string source_of(const Module& module, std::uint32_t location);

}  // namespace warptwin::ptx
