#include "sim/ptx/code/form.hpp"

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <unordered_map>

#include "sim/ptx/code/form_table.hpp"

namespace warptwin::ptx {

namespace {

constexpr std::string_view kGroups[] = {"scalar",
                                        "control",
                                        "address",
                                        "memory",
                                        "copy",
                                        "barrier",
                                        "fence",
                                        "warp",
                                        "tensor",
                                        "tcgen05",
                                        "launch"};

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(at), text.size());
    if (end > 0) {
      words.push_back(text.substr(0, end));
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

[[noreturn]] void refuse_row(std::string_view word) {
  throw std::logic_error("the table of PTX forms does not know '" + std::string{word} + "'");
}

// With the lists in it written out.
std::string expanded(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    if (text.front() != '$') {
      out += text.front();
      text.remove_prefix(1);
      continue;
    }
    const std::size_t size = std::min(text.find_first_of("|? ", 1), text.size());
    const std::string_view name = text.substr(1, size - 1);
    const auto lists = form_lists();
    const auto list = std::find_if(
        lists.begin(), lists.end(), [&](const FormList& each) { return each.name == name; });
    if (list == lists.end()) {
      refuse_row(name);
    }
    out += list->words;
    text.remove_prefix(size);
  }
  return out;
}

Modifier modifier_of(std::string_view word) {
  const auto modifier = modifier_named(word);
  if (!modifier) {
    refuse_row(word);
  }
  return *modifier;
}

Type type_of(std::string_view word) {
  const auto type = type_named(word);
  if (!type) {
    refuse_row(word);
  }
  return *type;
}

ModifierChoice choice_of(std::string_view word) {
  ModifierChoice choice;
  choice.optional = word.back() == '?';
  word.remove_suffix(choice.optional ? 1 : 0);
  for (const std::string_view each : split(word, '|')) {
    choice.of.set(modifier_of(each).index);
    choice.text += (choice.text.empty() ? "." : " or .") + std::string{each};
  }
  return choice;
}

OperandRule operand_rule(std::string_view word, Group group) {
  static constexpr std::string_view kLetters = "dsumxlt";
  static constexpr Role kRoles[] = {Role::kWrite,
                                    Role::kRead,
                                    Role::kUpdate,
                                    Role::kAddress,
                                    Role::kAny,
                                    Role::kLabel,
                                    Role::kTargets};
  const std::size_t letter = kLetters.find(word.front());
  if (letter == std::string_view::npos) {
    refuse_row(word);
  }
  OperandRule rule;
  rule.role = kRoles[letter];
  rule.optional = word.back() == '?';
  word.remove_suffix(rule.optional ? 1 : 0);
  word.remove_prefix(1);
  if (group == Group::kScalar) {
    rule.type_place = 0;
  }
  if (word == "w") {
    rule.wide = true;
  } else if (word == "1") {
    rule.type_place = 1;
  } else if (word.starts_with(':')) {
    rule.type = type_of(word.substr(1));
    rule.type_place = OperandRule::kUnchecked;
  } else if (!word.empty()) {
    refuse_row(word);
  }
  return rule;
}

Form form_of(const FormRow& row) {
  Form form;
  form.name = row.name;
  form.group = row.group;
  const auto name = split(row.name, '.');
  form.root = name.front();
  for (std::size_t word = 1; word < name.size(); ++word) {
    form.base.set(modifier_of(name[word]).index);
  }
  form.allowed = form.base;
  const std::string modifiers = expanded(row.modifiers);
  for (const std::string_view word : split(modifiers, ' ')) {
    if (word == "SHAPE") {
      form.has_shape = true;
      continue;
    }
    form.choices.push_back(choice_of(word));
    form.allowed |= form.choices.back().of;
  }
  const std::string types_text = expanded(row.types);
  for (const std::string_view place : split(types_text, ' ')) {
    std::vector<Type>& types = form.types.emplace_back();
    for (const std::string_view word : split(place, '|')) {
      types.push_back(type_of(word));
    }
  }
  for (const std::string_view word : split(row.operands, ' ')) {
    form.operands.push_back(operand_rule(word, row.group));
  }
  return form;
}

struct Table {
  std::vector<Form> forms;
  std::unordered_map<std::string_view, std::vector<const Form*>> by_root;
};

const Table& table() {
  static const Table kTable = [] {
    Table made;
    for (const FormRow& row : form_rows()) {
      made.forms.push_back(form_of(row));
    }
    for (const Form& form : made.forms) {
      made.by_root[form.root].push_back(&form);
    }
    return made;
  }();
  return kTable;
}

std::string first_of(const ModifierSet& words) {
  for (std::size_t index = 0; index < words.size(); ++index) {
    if (words[index]) {
      return "." + std::string{kModifierNames[index]};
    }
  }
  return {};
}

std::optional<std::string> refusal_of_modifiers(const Form& form, const Modifiers& modifiers) {
  const std::string name{form.name};
  if (!modifiers.unknown.empty()) {
    return name + " takes no ." + std::string{modifiers.unknown.front()};
  }
  if (const ModifierSet missing = form.base & ~modifiers.words; missing.any()) {
    return name + " needs " + first_of(missing);
  }
  if (const ModifierSet extra = modifiers.words & ~form.allowed; extra.any()) {
    return name + " takes no " + first_of(extra);
  }
  for (const ModifierChoice& choice : form.choices) {
    const std::size_t count = (modifiers.words & choice.of).count();
    if (count > 1 || (count == 0 && !choice.optional)) {
      return name + " takes " + (choice.optional ? "at most" : "exactly") + " one of " +
             choice.text;
    }
  }
  if ((modifiers.shape.m != 0) != form.has_shape) {
    return name + (form.has_shape ? " needs a shape" : " takes no shape");
  }
  return std::nullopt;
}

std::optional<std::string> refusal_of_types(const Form& form, const Modifiers& modifiers) {
  const std::string name{form.name};
  if (modifiers.type_count != form.types.size()) {
    return name + " takes " + std::to_string(form.types.size()) + " types, and has " +
           std::to_string(modifiers.type_count);
  }
  for (std::size_t place = 0; place < form.types.size(); ++place) {
    const auto& types = form.types[place];
    if (std::find(types.begin(), types.end(), modifiers.type(place)) == types.end()) {
      return name + " takes no type ." + std::string{name_of(modifiers.type(place))} +
             " in place " + std::to_string(place + 1);
    }
  }
  return std::nullopt;
}

std::size_t required_operands(const Form& form) {
  return static_cast<std::size_t>(
      std::count_if(form.operands.begin(), form.operands.end(), [](const OperandRule& rule) {
        return !rule.optional;
      }));
}

std::optional<std::string> refusal_of_operands(const Form& form,
                                               std::span<const Operand> operands) {
  const std::string name{form.name};
  const std::size_t required = required_operands(form);
  if (operands.size() < required || operands.size() > form.operands.size()) {
    return name + " takes " + std::to_string(required) +
           (required == form.operands.size() ? "" : " to " + std::to_string(form.operands.size())) +
           " operands, and has " + std::to_string(operands.size());
  }
  const auto rules = rules_of(form, operands.size());
  for (std::size_t index = 0; index < operands.size(); ++index) {
    const bool is_address = operands[index].kind == Operand::Kind::kAddress;
    if (rules[index]->role != Role::kAny && is_address != (rules[index]->role == Role::kAddress)) {
      return "operand " + std::to_string(index + 1) + " of " + name +
             (is_address ? " is no address" : " is an address in brackets");
    }
  }
  return std::nullopt;
}

bool fits(const Form& form,
          const Modifiers& modifiers,
          std::optional<std::span<const Operand>> operands) {
  if (!modifiers.unknown.empty() || (form.base & ~modifiers.words).any() ||
      (modifiers.words & ~form.allowed).any() || (modifiers.shape.m != 0) != form.has_shape ||
      modifiers.type_count != form.types.size()) {
    return false;
  }
  for (const ModifierChoice& choice : form.choices) {
    const std::size_t count = (modifiers.words & choice.of).count();
    if (count > 1 || (count == 0 && !choice.optional)) {
      return false;
    }
  }
  return !refusal_of_types(form, modifiers) && !(operands && refusal_of_operands(form, *operands));
}

// Why no form fits: the refusal of that which fits furthest.
std::string refusal_of(const std::vector<const Form*>& rows,
                       const Modifiers& modifiers,
                       std::optional<std::span<const Operand>> operands) {
  std::string reason;
  std::size_t best_rank = 0;
  for (const Form* form : rows) {
    const std::size_t base = (form->base & modifiers.words).count() * 4;
    std::size_t rank = base + ((form->base & ~modifiers.words).none() ? 2 : 1);
    auto refusal = refusal_of_modifiers(*form, modifiers);
    if (!refusal) {
      rank = base + 3;
      refusal = refusal_of_types(*form, modifiers);
    }
    if (!refusal && operands) {
      rank = base + 4;
      refusal = refusal_of_operands(*form, *operands);
    }
    if (refusal && rank > best_rank) {
      best_rank = rank;
      reason = *refusal;
    }
  }
  return reason;
}

FormMatch find(std::string_view opcode,
               const Modifiers& modifiers,
               std::optional<std::span<const Operand>> operands) {
  const auto rows = table().by_root.find(opcode);
  if (rows == table().by_root.end()) {
    return {nullptr, "there is no " + std::string{opcode}};
  }
  for (const Form* form : rows->second) {
    if (fits(*form, modifiers, operands)) {
      return {form, {}};
    }
  }
  return {nullptr, refusal_of(rows->second, modifiers, operands)};
}

}  // namespace

std::string_view name_of(Group group) {
  return kGroups[static_cast<std::size_t>(group)];
}

std::span<const Form> forms() {
  return table().forms;
}

std::vector<const OperandRule*> rules_of(const Form& form, std::size_t count) {
  std::size_t extra = count - std::min(count, required_operands(form));
  std::vector<const OperandRule*> rules;
  for (const OperandRule& rule : form.operands) {
    if (rule.optional && extra == 0) {
      continue;
    }
    extra -= rule.optional ? 1 : 0;
    rules.push_back(&rule);
  }
  return rules;
}

FormMatch find_form(const Instruction& instruction) {
  return find(instruction.opcode, instruction.modifiers, instruction.operands);
}

FormMatch find_form(std::string_view mnemonic) {
  const auto words = split(mnemonic, '.');
  if (words.empty()) {
    return {nullptr, "there is no instruction without a name"};
  }
  Modifiers modifiers;
  for (std::size_t word = 1; word < words.size(); ++word) {
    modifiers.add(words[word]);
  }
  return find(words.front(), modifiers, std::nullopt);
}

}  // namespace warptwin::ptx
