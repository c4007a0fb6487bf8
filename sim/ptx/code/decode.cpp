#include <algorithm>
#include <bit>
#include <utility>

#include "sim/ptx/code/code.hpp"
#include "sim/ptx/code/names.hpp"

namespace warptwin::ptx {

namespace {

constexpr std::size_t kProblemsMax = 20;

std::uint64_t mask_of(std::uint32_t bits) {
  return bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
}

/// What a place of an instruction wants of an operand.
struct Wanted {
  Role role = Role::kAny;
  Type type = Type::kNone;
  std::uint32_t bits = 0;  // 0: nothing is checked
  bool wider = false;      // a register may have more bits than the type
};

class Decoder {
 public:
  Decoder(const Module& module, const ModuleNames& names, const Function& function)
      : names_{names, function} {
    code_.module = &module;
    code_.function = &function;
  }

  Code run() {
    const auto& instructions = code_.function->instructions;
    code_.ops.reserve(instructions.size());
    code_.arguments.reserve(instructions.size() * 3);
    for (const Instruction& instruction : instructions) {
      try {
        code_.ops.push_back(op_of(instruction));
      } catch (const Problem& problem) {
        problems_.push_back(problem);
        code_.ops.emplace_back().source = &instruction;
        if (problems_.size() == kProblemsMax) {
          break;
        }
      }
    }
    if (!problems_.empty()) {
      throw SyntaxError{code_.module->file, std::move(problems_)};
    }
    code_.registers = std::move(names_.registers);
    return std::move(code_);
  }

 private:
  [[noreturn]] static void refuse(Position position, const std::string& what) {
    throw Problem{position, what};
  }

  Op op_of(const Instruction& instruction) {
    Op op;
    op.source = &instruction;
    scope_ = instruction.scope;
    if (!instruction.guard.empty()) {
      const auto guard = names_.find_register(instruction.guard, 0, scope_);
      if (!guard || names_.registers[*guard].type != Type::kPred) {
        refuse(instruction.position,
               "expected a predicate behind '@', found " + quoted(instruction.guard) +
                   ", which no '.reg .pred' in this scope declares");
      }
      op.guard = *guard;
    }
    FormMatch match = find_form(instruction);
    if (match.form == nullptr) {
      code_.gaps.push_back({static_cast<std::uint32_t>(code_.ops.size()), std::move(match.reason)});
      return op;
    }
    op.form = match.form;
    std::vector<Argument> arguments;
    if (op.is("call")) {
      arguments = call_arguments(instruction);
    } else {
      const auto rules = rules_of(*op.form, instruction.operands.size());
      // Of scalar instructions these alone write a second register.
      takes_pairs_ =
          op.form->group != Group::kScalar || op.is("setp") || (op.is("lop3") && rules.size() == 6);
      for (std::size_t index = 0; index < rules.size(); ++index) {
        arguments.push_back(
            argument(instruction.operands[index], wanted_of(instruction, *op.form, *rules[index])));
      }
    }
    op.count = static_cast<std::uint32_t>(arguments.size());
    op.first = append(arguments);
    return op;
  }

  static Wanted wanted_of(const Instruction& instruction,
                          const Form& form,
                          const OperandRule& rule) {
    Wanted wanted;
    wanted.role = rule.role;
    wanted.type = rule.type_place == OperandRule::kUnchecked
                      ? rule.type
                      : instruction.modifiers.type(rule.type_place);
    wanted.bits = bits_of(wanted.type) * (rule.wide ? 2 : 1);
    // Values of 4 and 8 bits live in larger registers.
    wanted.wider = form.root == "cvt" || bits_of(wanted.type) < 16;
    if (wanted.type == Type::kPred) {
      wanted.wider = false;
    }
    return wanted;
  }

  std::uint32_t append(const std::vector<Argument>& arguments) {
    const auto first = static_cast<std::uint32_t>(code_.arguments.size());
    code_.arguments.insert(code_.arguments.end(), arguments.begin(), arguments.end());
    return first;
  }

  void set_parts(Argument& made, const std::vector<Argument>& parts) {
    made.count = static_cast<std::uint32_t>(parts.size());
    made.first = append(parts);
  }

  Argument argument(const Operand& operand, const Wanted& wanted) {
    switch (operand.kind) {
      case Operand::Kind::kName:
        return named(operand, wanted);
      case Operand::Kind::kInteger:
      case Operand::Kind::kFloat32:
      case Operand::Kind::kFloat64:
        return number(operand, wanted);
      case Operand::Kind::kVector:
        return vector(operand, wanted);
      case Operand::Kind::kPair:
        return pair(operand, wanted);
      case Operand::Kind::kAddress:
        return address(operand);
      case Operand::Kind::kList:
        refuse(operand.position, "a list in parentheses is for 'call' alone");
      case Operand::Kind::kSink:
        break;
    }
    if (wanted.role == Role::kRead || wanted.role == Role::kLabel) {
      refuse(operand.position, "expected a value, found '_', which takes what nobody wants");
    }
    return {};
  }

  Argument number(const Operand& operand, const Wanted& wanted) const {
    if (wanted.role != Role::kRead && wanted.role != Role::kAny) {
      refuse(operand.position, "expected a register, found a number");
    }
    Argument made;
    made.kind = Argument::Kind::kNumber;
    made.type = wanted.type;
    made.read = true;
    made.value = operand.value;
    const bool is_float = operand.kind != Operand::Kind::kInteger;
    if (is_float && (is_integer(wanted.type) || wanted.type == Type::kPred)) {
      refuse(operand.position, "expected a whole number, found one with a point");
    }
    if (wanted.type == Type::kF32 || wanted.type == Type::kF64) {
      if (!is_float) {
        refuse(operand.position, "expected a floating-point number as 0f3F800000");
      }
      const double value = operand.kind == Operand::Kind::kFloat64
                               ? std::bit_cast<double>(operand.value)
                               : std::bit_cast<float>(static_cast<std::uint32_t>(operand.value));
      if (wanted.type == Type::kF64) {
        made.value = std::bit_cast<std::uint64_t>(value);
      } else if (operand.kind == Operand::Kind::kFloat64) {
        made.value = std::bit_cast<std::uint32_t>(static_cast<float>(value));
      }
    }
    if (wanted.bits != 0) {
      made.value &= mask_of(wanted.bits);
    }
    return made;
  }

  void check_size(const Operand& operand, const Wanted& wanted, Type type) const {
    const std::uint32_t bits = bits_of(type);
    if (wanted.bits == 0 || bits == wanted.bits ||
        (wanted.wider && bits > wanted.bits && type != Type::kPred)) {
      return;
    }
    refuse(operand.position,
           "expected a register of " + std::to_string(wanted.bits) + " bits, found " +
               quoted(operand.name) + " of " + std::to_string(bits));
  }

  Argument register_argument(const Operand& operand, const Wanted& wanted, std::uint32_t number) {
    check_size(operand, wanted, names_.registers[number].type);
    Argument made;
    made.kind = Argument::Kind::kRegister;
    made.index = number;
    made.type = wanted.type;
    made.negated = operand.negated;
    made.written = wanted.role == Role::kWrite || wanted.role == Role::kUpdate;
    made.read = wanted.role != Role::kWrite;
    if (operand.negated && (made.written || names_.registers[number].type != Type::kPred)) {
      refuse(operand.position, "'!' stands before a predicate that is read, and nothing else");
    }
    if (operand.value != 0) {
      refuse(operand.position, "an offset is for addresses in brackets and variables");
    }
    return made;
  }

  Argument named(const Operand& operand, const Wanted& wanted) {
    if (wanted.role == Role::kLabel) {
      return label(operand);
    }
    if (wanted.role == Role::kTargets) {
      return targets(operand);
    }
    if (const auto number = names_.find_register(operand.name, operand.component, scope_)) {
      return register_argument(operand, wanted, *number);
    }
    if (const std::uint8_t size = names_.vector_of(operand.name, scope_);
        size > 1 && operand.component == 0) {
      return whole_vector(operand, wanted, size);
    }
    if (wanted.role == Role::kWrite || wanted.role == Role::kUpdate) {
      refuse(operand.position,
             "expected a register, found " + quoted(operand.name) +
                 ", which no '.reg' in this scope declares");
    }
    return symbol(operand, wanted);
  }

  Argument symbol(const Operand& operand, const Wanted& wanted) {
    Argument made;
    made.type = wanted.type;
    made.read = true;
    made.value = operand.value;
    if (const auto special = special_named(operand.name, operand.component)) {
      made.kind = Argument::Kind::kSpecial;
      made.index = special->index;
    } else if (const auto variable = names_.find_variable(operand.name, scope_)) {
      made.kind = Argument::Kind::kVariable;
      made.index = variable_index(*variable);
    } else if (const auto function = names_.find_function(operand.name)) {
      made.kind = Argument::Kind::kFunction;
      made.index = *function;
    } else {
      refuse(operand.position,
             "nothing in this scope declares " + quoted(operand.name) +
                 ": expected a register, a special register, a variable or a function");
    }
    return made;
  }

  std::uint32_t variable_index(const VariableUse& use) {
    const auto [known, added] = variable_indices_.try_emplace(
        use.variable, static_cast<std::uint32_t>(code_.variables.size()));
    if (added) {
      code_.variables.push_back(use);
    }
    return known->second;
  }

  Argument label(const Operand& operand) {
    const auto target = names_.find_label(operand.name, scope_);
    if (!target) {
      refuse(operand.position, "no label " + quoted(operand.name) + " is in this scope");
    }
    Argument made;
    made.kind = Argument::Kind::kTarget;
    made.index = *target;
    return made;
  }

  Argument targets(const Operand& operand) {
    std::uint32_t scope = scope_;
    const TargetList* list = names_.find_targets(operand.name, scope);
    if (list == nullptr || list->calls) {
      refuse(operand.position, "no '.branchtargets' " + quoted(operand.name) + " is in this scope");
    }
    Argument made;
    made.kind = Argument::Kind::kTargets;
    const auto [known, added] =
        target_indices_.try_emplace(list, static_cast<std::uint32_t>(code_.targets.size()));
    made.index = known->second;
    if (!added) {
      return made;
    }
    std::vector<std::uint32_t> found;
    for (const std::string_view name : list->names) {
      const auto target = names_.find_label(name, scope);
      if (!target) {
        target_indices_.erase(list);
        refuse(operand.position, "no label " + quoted(name) + " is in this scope");
      }
      found.push_back(*target);
    }
    code_.targets.push_back(std::move(found));
    return made;
  }

  static Wanted element_of(const Wanted& wanted, std::size_t count, Position position) {
    Wanted element = wanted;
    if (wanted.bits != 0) {
      if (count == 0 || wanted.bits % count != 0) {
        refuse(position,
               std::to_string(count) + " elements do not make " + std::to_string(wanted.bits) +
                   " bits");
      }
      element.bits = wanted.bits / static_cast<std::uint32_t>(count);
      element.type = Type::kNone;
      element.wider = element.bits < 16;
    }
    return element;
  }

  Argument vector(const Operand& operand, const Wanted& wanted) {
    const Wanted element = element_of(wanted, operand.parts.size(), operand.position);
    std::vector<Argument> parts;
    for (const Operand& part : operand.parts) {
      parts.push_back(argument(part, element));
    }
    Argument made;
    made.kind = Argument::Kind::kVector;
    made.type = wanted.type;
    set_parts(made, parts);
    return made;
  }

  // A vector register without a component.
  Argument whole_vector(const Operand& operand, const Wanted& wanted, std::uint8_t size) {
    const Wanted element = element_of(wanted, size, operand.position);
    std::vector<Argument> parts;
    for (std::uint8_t component = 1; component <= size; ++component) {
      const auto number = names_.find_register(operand.name, component, scope_);
      parts.push_back(register_argument(operand, element, *number));
    }
    Argument made;
    made.kind = Argument::Kind::kVector;
    made.type = wanted.type;
    set_parts(made, parts);
    return made;
  }

  Argument pair(const Operand& operand, const Wanted& wanted) {
    if (wanted.role != Role::kWrite || !takes_pairs_) {
      refuse(operand.position, "'a|b' stands where two registers are written, and nowhere else");
    }
    Wanted second = wanted;
    if (wanted.bits != 0) {
      second.type = Type::kPred;
      second.bits = 1;
    }
    const std::vector<Argument> parts{argument(operand.parts[0], wanted),
                                      argument(operand.parts[1], second)};
    Argument made;
    made.kind = Argument::Kind::kPair;
    set_parts(made, parts);
    return made;
  }

  Argument address(const Operand& operand) {
    std::vector<Argument> parts;
    for (const Operand& part : operand.parts) {
      parts.push_back(argument(part, {Role::kRead, Type::kNone, 0, false}));
    }
    Argument made;
    made.kind = Argument::Kind::kAddress;
    made.value = operand.value;
    made.read = true;
    set_parts(made, parts);
    return made;
  }

  Argument list(const Operand* operand, Role role) {
    std::vector<Argument> parts;
    if (operand != nullptr) {
      for (const Operand& part : operand->parts) {
        // A variable that a call writes is no register.
        const bool variable = part.kind == Operand::Kind::kName &&
                              !names_.find_register(part.name, part.component, scope_);
        parts.push_back(argument(part, {variable ? Role::kRead : role, Type::kNone, 0, false}));
      }
    }
    Argument made;
    made.kind = Argument::Kind::kList;
    set_parts(made, parts);
    return made;
  }

  // Always four: what it returns, what is called, what it takes, and of a call through a register
  // the prototype.
  std::vector<Argument> call_arguments(const Instruction& instruction) {
    const auto& operands = instruction.operands;
    std::size_t at = 0;
    const auto next_list = [&]() -> const Operand* {
      const bool is_list = at < operands.size() && operands[at].kind == Operand::Kind::kList;
      return is_list ? &operands[at++] : nullptr;
    };
    const Operand* returns = next_list();
    if (at == operands.size() || operands[at].kind != Operand::Kind::kName) {
      refuse(instruction.position, "expected the name of a function behind 'call'");
    }
    const Operand& target = operands[at++];
    const Operand* parameters = next_list();
    std::vector<Argument> made;
    made.push_back(list(returns, Role::kWrite));
    made.push_back(argument(target, {Role::kRead, Type::kNone, 0, false}));
    made.push_back(list(parameters, Role::kRead));
    made.emplace_back();
    const bool direct = made[1].kind == Argument::Kind::kFunction;
    if (!direct && made[1].kind != Argument::Kind::kRegister) {
      refuse(target.position, "expected a function or a register behind 'call'");
    }
    if (!direct && at == operands.size()) {
      refuse(instruction.position, "a call through a register needs its '.callprototype'");
    }
    if (at < operands.size()) {
      made[3] = prototype(operands[at++]);
    }
    if (at < operands.size()) {
      refuse(operands[at].position, "expected ';' behind a call's prototype");
    }
    return made;
  }

  Argument prototype(const Operand& operand) {
    const Prototype* found = names_.find_prototype(operand.name, scope_);
    std::span<const std::string_view> targets;
    if (found == nullptr) {
      std::uint32_t scope = scope_;
      const TargetList* list = names_.find_targets(operand.name, scope);
      const auto first =
          list != nullptr && list->calls ? names_.find_function(list->names.front()) : std::nullopt;
      if (!first) {
        refuse(
            operand.position,
            "no '.callprototype' or '.calltargets' " + quoted(operand.name) + " is in this scope");
      }
      found = &code_.module->functions[*first].prototype;
      targets = list->names;
    }
    Argument made;
    made.kind = Argument::Kind::kPrototype;
    made.index = static_cast<std::uint32_t>(code_.prototypes.size());
    code_.prototypes.push_back(found);
    code_.call_targets.push_back(targets);
    return made;
  }

  Names names_;
  Code code_;
  std::uint32_t scope_ = 0;
  bool takes_pairs_ = false;
  std::vector<Problem> problems_;
  std::unordered_map<const Variable*, std::uint32_t> variable_indices_;
  std::unordered_map<const TargetList*, std::uint32_t> target_indices_;
};

}  // namespace

void Code::for_each_register(const Op& op,
                             const std::function<void(std::uint32_t, bool)>& visit) const {
  if (op.guarded()) {
    visit(op.guard, false);
  }
  const auto walk = [&](const auto& self, const Argument& argument, bool written) -> void {
    if (argument.kind == Argument::Kind::kRegister) {
      if (written ? argument.written : argument.read) {
        visit(argument.index, written);
      }
      return;
    }
    for (const Argument& part : parts_of(argument)) {
      self(self, part, written);
    }
  };
  for (const bool written : {false, true}) {
    for (const Argument& argument : arguments_of(op)) {
      walk(walk, argument, written);
    }
  }
}

bool Code::ends_in_call(const Op& op) const {
  if (!op.is("call")) {
    return false;
  }
  const auto parts = arguments_of(op);
  if (parts[1].kind == Argument::Kind::kFunction) {
    return module->functions[parts[1].index].prototype.no_return;
  }
  return parts[3].kind == Argument::Kind::kPrototype && prototypes[parts[3].index]->no_return;
}

Code decode(const Module& module, const Function& function) {
  const ModuleNames names{module};
  return Decoder{module, names, function}.run();
}

std::vector<Code> decode(const Module& module) {
  const ModuleNames names{module};
  std::vector<Code> codes;
  std::vector<Problem> problems;
  for (const Function& function : module.functions) {
    if (!function.has_body) {
      continue;
    }
    try {
      codes.push_back(Decoder{module, names, function}.run());
    } catch (const SyntaxError& error) {
      problems.insert(problems.end(), error.problems().begin(), error.problems().end());
    }
    if (problems.size() >= kProblemsMax) {
      break;
    }
  }
  if (!problems.empty()) {
    throw SyntaxError{module.file, std::move(problems)};
  }
  return codes;
}

}  // namespace warptwin::ptx
