/// Reads a module: inside of parse_module.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/ptx/text/parse.hpp"

namespace warptwin::ptx {

/// The tokens, one ahead, and what every part of the grammar needs.
class Reader {
 public:
  Reader(std::string_view text, const Limits& bounds) : limits{bounds}, lexer_{text} {}

  /// Reads the first token. Like everything that reads one, throws Problem for what is none.
  void start() { advance(); }
  const Token& peek() const { return next_; }
  /// The token behind it.
  Token peek_behind() const { return Lexer{lexer_}.next(); }
  Token take();
  bool at_end() const { return next_.kind == Token::Kind::kEnd; }
  bool take_if(std::string_view mark);
  bool take_if_dot(std::string_view word);

  void expect(std::string_view mark);
  std::string_view name(std::string_view what);
  std::string_view dot_word(std::string_view what);
  /// A constant expression of integers (PTX ISA, "Constant Expressions"): 64 bits, wrapping.
  std::uint64_t integer(std::string_view what) { return sum(what, 0, 0); }
  std::uint32_t u32(std::string_view what, std::uint64_t least, std::uint64_t most);
  /// As u32, of a whole number alone.
  std::uint32_t count(std::string_view what, std::uint64_t most);

  [[noreturn]] void fail(std::string_view expected) const { fail(next_, expected); }
  [[noreturn]] static void fail(const Token& found, std::string_view expected);
  [[noreturn]] static void refuse(Position position, const std::string& what) {
    throw Problem{position, what};
  }
  void check_depth(std::uint32_t depth) const;

  /// Passes over what is left of a broken statement: behind its ';', or up to a brace.
  void skip_statement();
  /// From behind a '{' to behind its '}', whatever is inside.
  void skip_braces();
  /// To the next directive that can stand outside of functions.
  void skip_to_top_level();

  const Limits& limits;

 private:
  void advance();
  void skip_token();
  std::uint64_t sum(std::string_view what, int level, std::uint32_t depth);
  std::uint64_t factor(std::string_view what, std::uint32_t depth);

  Lexer lexer_;
  Token next_;
};

/// Thrown when as many problems are listed as may be.
struct TooManyProblems {};

class Parser {
 public:
  Parser(Module& module, const Limits& limits) : module_{module}, reader_{*module.text, limits} {}

  /// Reads all of it and gives back what is wrong.
  std::vector<Problem> run();

 private:
  // module.cpp
  void version();
  void top_level();
  void top_level_directive();
  void file_directive();
  void section();
  void function(const Linkage& linkage, bool is_entry);
  bool directive(Function& function);
  void extents(std::uint32_t (&into)[3], std::uint64_t most);
  void add_function(Function&& function, Position position);
  Linkage linkage();
  void module_variables(Space space, const Linkage& linkage);
  // variables.cpp
  std::vector<Variable> parameter_list();
  Variable parameter();
  Variable declaration(Space space, const Linkage& linkage);
  void declarator(Variable& variable);
  void initialiser(Variable& variable);
  void initial_list(Variable& variable,
                    std::size_t dimension,
                    std::uint64_t first,
                    std::uint32_t depth);
  InitialValue initial_value(Type type);
  void check_size(const Variable& variable) const;
  // statements.cpp
  void body(Function& function);
  void statement(Function& function, std::vector<std::uint32_t>& open);
  void registers(Scope& scope);
  void location();
  Location place();
  void scoped_directive(Function& function, std::uint32_t scope);
  void labelled(Function& function, std::uint32_t scope, const Token& label);
  void instruction(Function& function, std::uint32_t scope);
  Operand operand(std::uint32_t depth);
  Operand plain_operand(std::uint32_t depth);
  Operand address(std::uint32_t depth);
  void operand_list(Operand& into, std::string_view end, std::uint32_t depth);
  Operand call_list();
  void add_offset(Operand& operand);
  void note(const Problem& problem);

  Module& module_;
  Reader reader_;
  std::vector<Problem> problems_;
  std::uint32_t location_ = kNoIndex;
  std::unordered_map<std::string_view, std::uint32_t> functions_;  // index, by name
  std::unordered_map<std::string_view, Position> variables_;
};

/// The space that a directive names: ".shared"; none for another word.
std::optional<Space> variable_space(std::string_view word);

}  // namespace warptwin::ptx
