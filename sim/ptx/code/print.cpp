#include "sim/ptx/code/print.hpp"

#include <algorithm>
#include <iomanip>
#include <ostream>

#include "sim/ptx/code/flow.hpp"
#include "sim/ptx/text/demangled.hpp"

namespace warptwin::ptx {

namespace {

constexpr int kTextColumns = 64;

std::string hex(std::uint64_t value) {
  char digits[24];
  std::snprintf(digits, sizeof digits, "0x%llx", static_cast<unsigned long long>(value));
  return digits;
}

std::string number_text(const Argument& argument) {
  const std::uint32_t bits = bits_of(argument.type);
  if (argument.type == Type::kF32) {
    char digits[16];
    std::snprintf(digits, sizeof digits, "0f%08X", static_cast<unsigned>(argument.value));
    return digits;
  }
  if (argument.type == Type::kF64) {
    char digits[24];
    std::snprintf(
        digits, sizeof digits, "0d%016llX", static_cast<unsigned long long>(argument.value));
    return digits;
  }
  const std::uint32_t spare = bits == 0 || bits > 64 ? 0 : 64 - bits;
  const auto value = static_cast<std::int64_t>(argument.value << spare) >> spare;
  return is_signed(argument.type) || value > -4096 ? std::to_string(value) : hex(argument.value);
}

std::string offset_text(std::uint64_t value) {
  const auto offset = static_cast<std::int64_t>(value);
  if (offset == 0) {
    return {};
  }
  return (offset > 0 ? "+" : "") + std::to_string(offset);
}

std::string text_of(const Code& code, const Argument& argument);

std::string joined(const Code& code, const Argument& argument, const char* between) {
  std::string text;
  for (const Argument& part : code.parts_of(argument)) {
    text += (text.empty() ? "" : between) + text_of(code, part);
  }
  return text;
}

std::string register_text(const Code& code, std::uint32_t number) {
  constexpr std::string_view kComponents = " xyzw";
  const Register& named = code.registers[number];
  std::string text{named.name};
  if (named.component != 0) {
    text += ".";
    text += kComponents[named.component];
  }
  return text;
}

std::string targets_text(const Code& code, const Argument& argument) {
  std::string text;
  for (const std::uint32_t target : code.targets[argument.index]) {
    text += (text.empty() ? "@" : ", @") + std::to_string(target);
  }
  return "{" + text + "}";
}

std::string address_text(const Code& code, const Argument& argument) {
  const auto parts = code.parts_of(argument);
  std::string text = "[" + text_of(code, parts[0]) + offset_text(argument.value);
  for (const Argument& part : parts.subspan(1)) {
    text += ", " + text_of(code, part);
  }
  return text + "]";
}

std::string text_of(const Code& code, const Argument& argument) {
  switch (argument.kind) {
    case Argument::Kind::kRegister:
      return (argument.negated ? "!" : "") + register_text(code, argument.index);
    case Argument::Kind::kNumber:
      return number_text(argument);
    case Argument::Kind::kSpecial:
      return std::string{name_of(SpecialRegister{argument.index})};
    case Argument::Kind::kVariable:
      return std::string{code.variables[argument.index].variable->name} +
             offset_text(argument.value);
    case Argument::Kind::kFunction:
      return std::string{code.module->functions[argument.index].name} + offset_text(argument.value);
    case Argument::Kind::kVector:
      return "{" + joined(code, argument, ", ") + "}";
    case Argument::Kind::kAddress:
      return address_text(code, argument);
    case Argument::Kind::kPair:
      return joined(code, argument, "|");
    case Argument::Kind::kList:
      return "(" + joined(code, argument, ", ") + ")";
    case Argument::Kind::kTarget:
      return "@" + std::to_string(argument.index);
    case Argument::Kind::kTargets:
      return targets_text(code, argument);
    case Argument::Kind::kPrototype:
      return "its prototype";
    case Argument::Kind::kSink:
      break;
  }
  return "_";
}

std::string extents_text(const std::uint32_t (&extents)[3]) {
  return std::to_string(extents[0]) + " x " + std::to_string(extents[1]) + " x " +
         std::to_string(extents[2]);
}

void print_variable(const Variable& variable, const char* what, std::ostream& out) {
  out << "  " << what << " " << variable.name << ": ." << name_of(variable.type) << ", "
      << variable.bytes() << " bytes at " << variable.aligned_to();
  if (variable.is_pointer) {
    out << ", a pointer to " << name_of(variable.pointer_space) << " memory";
  }
  out << "\n";
}

void print_head(const Code& code, std::ostream& out) {
  const Function& function = *code.function;
  const std::string plain = demangled(std::string{function.name});
  out << (function.is_entry ? "kernel " : "function ") << function.name << " (" << code.module->file
      << ":" << function.position.line << "): " << (plain == function.name ? "" : plain + ", ")
      << code.ops.size() << " instructions, " << code.registers.size() << " registers of PTX\n";
  for (const Variable& variable : function.prototype.returns) {
    print_variable(variable, "returns", out);
  }
  for (const Variable& variable : function.prototype.parameters) {
    print_variable(variable, "parameter", out);
  }
  for (const VariableUse& use : code.variables) {
    if (use.owner == VariableUse::Owner::kLocal || use.owner == VariableUse::Owner::kModule) {
      print_variable(*use.variable, std::string{name_of(use.variable->space)}.c_str(), out);
    }
  }
  const Directives& set = function.directives;
  if (set.required_threads[0] != 0) {
    out << "  threads: exactly " << extents_text(set.required_threads) << "\n";
  }
  if (set.maximal_threads[0] != 0) {
    out << "  threads: at most " << extents_text(set.maximal_threads) << "\n";
  }
  if (set.cluster[0] != 0) {
    out << "  cluster: " << extents_text(set.cluster) << "\n";
  }
}

}  // namespace

std::string text_of(const Code& code, const Op& op) {
  std::string text;
  if (op.guarded()) {
    text = std::string{op.source->guard_negated ? "@!" : "@"} + register_text(code, op.guard) + " ";
  }
  text += op.source->text;
  const auto arguments = code.arguments_of(op);
  for (std::size_t index = 0; index < arguments.size(); ++index) {
    if (op.is("call") && index == 3 && arguments[index].kind == Argument::Kind::kSink) {
      break;
    }
    text += (index == 0 ? " " : ", ") + text_of(code, arguments[index]);
  }
  return text;
}

void print(const Code& code, std::ostream& out) {
  print_head(code, out);
  const Flow flow = flow_of(code);
  auto gap = code.gaps.begin();
  for (std::uint32_t index = 0; index < code.ops.size(); ++index) {
    const Op& op = code.ops[index];
    const Block& block = flow.blocks[flow.block_of[index]];
    std::string text = text_of(code, op);
    if (gap != code.gaps.end() && gap->op == index) {
      text += " -- missing: " + gap->reason;
      ++gap;
    }
    out << (block.begin == index ? ">" : " ") << std::setw(5) << index << "  " << std::left
        << std::setw(kTextColumns) << text << std::right << "  " << op.source->position.line;
    if (const std::string source = source_of(*code.module, op.source->location); !source.empty()) {
      out << "  " << source;
    }
    if (block.end == index + 1 && block.successors.size() > 1) {
      const std::uint32_t join = flow.join_of(index);
      out << (join == kNoIndex ? "  joins nowhere" : "  joins at @" + std::to_string(join));
    }
    out << "\n";
  }
}

}  // namespace warptwin::ptx
