#include <algorithm>
#include <utility>

#include "sim/ptx/text/parser.hpp"

namespace warptwin::ptx {

namespace {

constexpr std::uint64_t kNumberMax = ~std::uint32_t{0};

std::uint8_t component_named(std::string_view word) {
  if (word.size() != 1) {
    return 0;
  }
  const std::size_t position = word == "x" || word == "r"   ? 1
                               : word == "y" || word == "g" ? 2
                               : word == "z" || word == "b" ? 3
                               : word == "w" || word == "a" ? 4
                                                            : 0;
  return static_cast<std::uint8_t>(position);
}

}  // namespace

// Loops over statements, however deep: scopes are a list of those that are open.
void Parser::body(Function& function) {
  function.has_body = true;
  location_ = kNoIndex;
  function.scopes.emplace_back();
  std::vector<std::uint32_t> open{0};
  reader_.expect("{");
  while (!open.empty()) {
    if (reader_.at_end()) {
      reader_.fail("'}'");
    }
    try {
      statement(function, open);
    } catch (const Problem& problem) {
      note(problem);
      reader_.skip_statement();
    }
  }
}

void Parser::statement(Function& function, std::vector<std::uint32_t>& open) {
  const Token at = reader_.peek();
  if (at.is("{")) {
    if (open.size() >= reader_.limits.depth || function.scopes.size() >= reader_.limits.scopes) {
      note({at.position,
            "scopes nested more than " + std::to_string(reader_.limits.depth) +
                " deep, or more than " + std::to_string(reader_.limits.scopes) +
                " in one function, are not read"});
      reader_.take();
      reader_.skip_braces();
      return;
    }
    function.scopes.emplace_back().parent = open.back();
    open.push_back(static_cast<std::uint32_t>(function.scopes.size() - 1));
    reader_.take();
  } else if (at.is("}")) {
    open.pop_back();
    reader_.take();
  } else if (at.is(";")) {
    reader_.take();
  } else if (at.kind == Token::Kind::kDot) {
    scoped_directive(function, open.back());
  } else if (at.is("@")) {
    instruction(function, open.back());
  } else if (at.kind == Token::Kind::kName && reader_.peek_behind().is(":")) {
    reader_.take();
    labelled(function, open.back(), at);
  } else {
    instruction(function, open.back());
  }
}

void Parser::scoped_directive(Function& function, std::uint32_t scope) {
  if (reader_.take_if_dot("reg")) {
    registers(function.scopes[scope]);
    return;
  }
  if (reader_.take_if_dot("loc")) {
    location();
    return;
  }
  if (reader_.take_if_dot("file")) {
    file_directive();
    return;
  }
  if (directive(function)) {
    return;
  }
  const Linkage linked = linkage();
  const Token at = reader_.peek();
  const auto space = at.kind == Token::Kind::kDot ? variable_space(at.text) : std::nullopt;
  if (!space) {
    reader_.fail("'.reg', '.loc', '.pragma' or a space as '.shared'");
  }
  reader_.take();
  do {
    function.scopes[scope].variables.push_back(declaration(*space, linked));
  } while (reader_.take_if(","));
  reader_.expect(";");
}

// .reg [.v2] .type name[<count>] {, name[<count>]} ;
void Parser::registers(Scope& scope) {
  RegisterRange range;
  for (const auto& [word, size] : {std::pair{"v2", 2}, std::pair{"v4", 4}}) {
    if (reader_.take_if_dot(word)) {
      range.vector = static_cast<std::uint8_t>(size);
    }
  }
  const Token at = reader_.peek();
  const auto type = type_named(reader_.dot_word("a type"));
  if (!type || bits_of(*type) > 128) {
    Reader::fail(at, "a type of at most 128 bits");
  }
  range.type = *type;
  do {
    range.name = reader_.name("the name of a register");
    range.count = 0;
    if (reader_.take_if("<")) {
      range.count = reader_.count("a number of registers", reader_.limits.registers);
      reader_.expect(">");
      if (range.count == 0) {
        continue;
      }
    }
    scope.registers.push_back(range);
  } while (reader_.take_if(","));
  reader_.expect(";");
}

Location Parser::place() {
  Location place;
  place.file = reader_.count("the number of a file", kNumberMax);
  place.line = reader_.count("a line", kNumberMax);
  place.column = reader_.count("a column", kNumberMax);
  return place;
}

// .loc file line column [, function_name label[+offset]] [, inlined_at file line column]
void Parser::location() {
  Location here = place();
  while (reader_.take_if(",")) {
    const Token at = reader_.peek();
    if (at.is_name("function_name")) {
      reader_.take();
      here.function = reader_.name("a label of debug data");
      if (reader_.take_if("+")) {
        reader_.count("an offset", kNumberMax);
      }
    } else if (at.is_name("inlined_at")) {
      reader_.take();
      const Location caller = place();
      // What it was inlined at may itself be inlined: the last such place says so.
      for (std::uint32_t index = static_cast<std::uint32_t>(module_.locations.size()); index > 0;) {
        const Location& before = module_.locations[--index];
        if (before.file == caller.file && before.line == caller.line &&
            before.column == caller.column) {
          here.inlined_at = index;
          break;
        }
        if (module_.locations.size() - index > 64) {
          break;
        }
      }
      if (here.inlined_at == kNoIndex) {
        module_.locations.push_back(caller);
        here.inlined_at = static_cast<std::uint32_t>(module_.locations.size() - 1);
      }
    } else {
      reader_.fail("'function_name' or 'inlined_at'");
    }
  }
  module_.locations.push_back(here);
  location_ = static_cast<std::uint32_t>(module_.locations.size() - 1);
}

// Behind `label`, at ':'.
void Parser::labelled(Function& function, std::uint32_t scope, const Token& label) {
  reader_.expect(":");
  Scope& here = function.scopes[scope];
  const bool known = here.labels.contains(label.text) || here.targets.contains(label.text) ||
                     here.prototypes.contains(label.text);
  if (known) {
    note({label.position, "label " + quoted(label.text) + " stands twice in one scope"});
  }
  if (reader_.peek().is_dot("branchtargets") || reader_.peek().is_dot("calltargets")) {
    TargetList list;
    list.calls = reader_.take().text == "calltargets";
    do {
      list.names.push_back(reader_.name("a label"));
    } while (reader_.take_if(","));
    reader_.expect(";");
    here.targets[label.text] = std::move(list);
  } else if (reader_.take_if_dot("callprototype")) {
    Prototype prototype;
    if (reader_.peek().is("(")) {
      prototype.returns = parameter_list();
    }
    reader_.name("'_'");
    if (reader_.peek().is("(")) {
      prototype.parameters = parameter_list();
    }
    while (reader_.peek().kind == Token::Kind::kDot) {
      prototype.no_return = prototype.no_return || reader_.peek().is_dot("noreturn");
      reader_.take();
      if (reader_.peek().kind == Token::Kind::kInteger) {
        reader_.take();
      }
    }
    reader_.expect(";");
    here.prototypes[label.text] = std::make_shared<const Prototype>(std::move(prototype));
  } else {
    here.labels[label.text] = static_cast<std::uint32_t>(function.instructions.size());
  }
}

void Parser::instruction(Function& function, std::uint32_t scope) {
  Instruction made;
  made.scope = scope;
  made.location = location_;
  if (reader_.take_if("@")) {
    made.guard_negated = reader_.take_if("!");
    made.guard = reader_.name("a predicate");
  }
  const Token opcode = reader_.peek();
  made.position = opcode.position;
  made.opcode = reader_.name("an instruction");
  if (made.opcode.front() == '%') {
    Reader::fail(opcode, "an instruction");
  }
  const char* end = opcode.text.data() + opcode.text.size();
  while (reader_.peek().kind == Token::Kind::kDot) {
    const std::string_view word = reader_.take().text;
    end = word.data() + word.size();
    made.modifiers.add(word);
  }
  made.text = {opcode.text.data(), static_cast<std::size_t>(end - opcode.text.data())};
  if (!reader_.peek().is(";")) {
    do {
      made.operands.push_back(made.opcode == "call" && reader_.peek().is("(") ? call_list()
                                                                              : operand(0));
    } while (reader_.take_if(","));
  }
  if (!reader_.peek().is(";")) {
    reader_.fail("',' or ';'");
  }
  function.instructions.push_back(std::move(made));
  reader_.take();
}

// ( a, b ) of a call.
Operand Parser::call_list() {
  Operand list;
  list.kind = Operand::Kind::kList;
  list.position = reader_.peek().position;
  reader_.expect("(");
  operand_list(list, ")", 1);
  return list;
}

void Parser::operand_list(Operand& into, std::string_view end, std::uint32_t depth) {
  if (reader_.take_if(end)) {
    return;
  }
  do {
    if (into.parts.size() >= reader_.limits.vector_elements) {
      Reader::refuse(into.position,
                     "an operand has more than " + std::to_string(reader_.limits.vector_elements) +
                         " elements");
    }
    into.parts.push_back(operand(depth));
  } while (reader_.take_if(","));
  reader_.expect(end);
}

// plain [ '|' plain ]
Operand Parser::operand(std::uint32_t depth) {
  Operand first = plain_operand(depth);
  if (!reader_.take_if("|")) {
    return first;
  }
  Operand pair;
  pair.kind = Operand::Kind::kPair;
  pair.position = first.position;
  pair.parts.push_back(std::move(first));
  pair.parts.push_back(plain_operand(depth));
  return pair;
}

void Parser::add_offset(Operand& operand) {
  if (reader_.peek().is("+") || reader_.peek().is("-")) {
    operand.value += reader_.integer("an offset");
  }
}

Operand Parser::plain_operand(std::uint32_t depth) {
  reader_.check_depth(depth);
  Operand made;
  const Token at = reader_.peek();
  made.position = at.position;
  if (at.is("[")) {
    return address(depth);
  }
  if (reader_.take_if("{")) {
    made.kind = Operand::Kind::kVector;
    operand_list(made, "}", depth + 1);
    return made;
  }
  const bool negative = at.is("-");
  const Token number = negative ? reader_.peek_behind() : at;
  if (number.kind == Token::Kind::kFloat32 || number.kind == Token::Kind::kFloat64) {
    const bool wide = number.kind == Token::Kind::kFloat64;
    made.kind = wide ? Operand::Kind::kFloat64 : Operand::Kind::kFloat32;
    made.value = number.number ^ (negative ? std::uint64_t{1} << (wide ? 63 : 31) : 0);
    reader_.take_if("-");
    reader_.take();
    return made;
  }
  made.negated = at.is("!") && reader_.peek_behind().kind == Token::Kind::kName;
  if (made.negated) {
    reader_.take();
  }
  if (reader_.peek().kind != Token::Kind::kName || reader_.peek().is_name("WARP_SZ")) {
    made.kind = Operand::Kind::kInteger;
    made.value = reader_.integer("an operand");
    return made;
  }
  made.name = reader_.take().text;
  made.kind = made.name == "_" ? Operand::Kind::kSink : Operand::Kind::kName;
  if (reader_.peek().kind == Token::Kind::kDot && reader_.peek().joined) {
    made.component = component_named(reader_.peek().text);
    if (made.component == 0) {
      reader_.fail("'.x', '.y', '.z' or '.w'");
    }
    reader_.take();
  }
  add_offset(made);
  return made;
}

// [ base [+ offset] {, operand} ]
Operand Parser::address(std::uint32_t depth) {
  Operand made;
  made.kind = Operand::Kind::kAddress;
  made.position = reader_.peek().position;
  reader_.expect("[");
  Operand base = plain_operand(depth + 1);
  if (base.kind != Operand::Kind::kName && base.kind != Operand::Kind::kInteger) {
    Reader::refuse(base.position, "expected a register, a variable or a number as an address");
  }
  made.value = base.value;
  base.value = 0;
  made.parts.push_back(std::move(base));
  if (reader_.take_if(",")) {
    operand_list(made, "]", depth + 1);
  } else {
    reader_.expect("]");
  }
  return made;
}

}  // namespace warptwin::ptx
