/// Reads a program's text: inside of parse_program.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/program/lexer.hpp"
#include "sim/program/program.hpp"

namespace warptwin::sim {

/// The tokens, and where the reading is. Numbers are expressions over the variables that are set.
class Reader {
 public:
  Reader(std::string_view text, std::string_view file)
      : file_{file}, tokens_{tokens_of(text, file)} {}

  const Token& peek() const { return tokens_[at_]; }
  const Token& take() { return tokens_[at_].kind == Token::Kind::kEnd ? peek() : tokens_[at_++]; }
  bool at_end() const { return peek().kind == Token::Kind::kEnd; }
  bool at_line_end() const { return peek().kind >= Token::Kind::kNewline; }
  /// Takes the next token if it is this one.
  bool take_if(std::string_view text);
  void skip_newlines();

  void expect(std::string_view mark);
  void expect_line_end();
  const Token& word(std::string_view what);
  std::int64_t number(std::string_view what, std::int64_t least, std::int64_t most);
  std::uint32_t u32(std::string_view what, std::uint64_t most = ~std::uint32_t{0}) {
    return static_cast<std::uint32_t>(number(what, 0, static_cast<std::int64_t>(most)));
  }
  /// 64 bits, no expression.
  std::uint64_t bits(std::string_view what);
  [[noreturn]] void fail(std::string_view expected) const { fail(peek(), expected); }
  [[noreturn]] void fail(const Token& found, std::string_view expected) const {
    throw_expected(file_, found, expected);
  }

  /// "file:line:column: what".
  [[noreturn]] void refuse(const Token& at, const std::string& what) const {
    throw ConfigError(file_ + ":" + std::to_string(at.line) + ":" + std::to_string(at.column) +
                      ": " + what);
  }

  std::size_t position() const { return at_; }
  void go_to(std::size_t position) { at_ = position; }
  const std::string& file() const { return file_; }

  std::map<std::string, std::int64_t, std::less<>> variables;

 private:
  std::int64_t sum(std::string_view what, int depth);
  std::int64_t product(std::string_view what, int depth);
  std::int64_t factor(std::string_view what, int depth);

  std::string file_;
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
};

/// What the header declared, by name.
struct Names {
  std::map<std::string, std::size_t, std::less<>> regions;  // index into Symbols::regions
  std::map<std::string, std::size_t, std::less<>> tensors;  // index into Workload::tensors
  std::map<std::string, std::uint32_t, std::less<>> maps;   // number
  std::vector<std::uint64_t> tensor_addresses;
};

/// A place in brackets.
struct Place {
  enum class Space : std::uint8_t { kShared, kRemote, kGlobal, kTmem };
  Space space = Space::kShared;
  std::uint32_t address = 0;  // of kShared, kRemote (with the rank) and kTmem
  std::uint64_t global = 0;
};

/// Beyond these a text asks for more than any CTA has; the models then need not check.
inline constexpr std::uint32_t kSharedAddressMax = (1U << 20) - 1;
inline constexpr std::uint64_t kGlobalAddressMax = (std::uint64_t{1} << 40) - 1;

/// Reads "[full[1]]", "[src+16]", "[tmem lane 32, column 16]", "[full of rank 1]".
Place read_place(Reader& reader, const Program& program, const Names& names);
/// A place of one space; `what` says it in an error.
std::uint32_t read_shared(Reader& reader, const Program& program, const Names& names);
std::uint64_t read_global(Reader& reader, const Program& program, const Names& names);

/// Everything in front of the first warp. Lays out shared memory and global buffers.
void read_header(Reader& reader, Program& program, Names& names);

/// A line's operation, after its lanes: `who` is the word that said them, if any.
struct Executing {
  std::uint8_t lanes = 32;
  std::uint8_t lane = 0;
};
Instruction read_operation(Reader& reader,
                           const Program& program,
                           const Names& names,
                           Executing who);

/// The role of this name; none for another word.
std::optional<Role> role_named(std::string_view name);
std::optional<ElementType> element_named(std::string_view name);
/// 0, 32, 64 or 128.
Swizzle read_swizzle(Reader& reader);

}  // namespace warptwin::sim
