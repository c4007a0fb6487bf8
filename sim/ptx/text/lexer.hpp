/// The words of a PTX module.

#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace warptwin::ptx {

/// Where something stands, both from 1.
struct Position {
  std::uint32_t line = 1;
  std::uint32_t column = 1;
};

/// One error in a module: "expected X, found Y", and where.
struct Problem {
  Position position;
  std::string text;
};

struct Token {
  enum class Kind : std::uint8_t {
    kName,     // "add", "%r1", "$L__BB0_1"
    kDot,      // ".shared::cta": text is without the dot
    kInteger,  // number is its value
    kFloat32,  // number is its bits
    kFloat64,
    kString,  // text is without the quotes
    kMark,
    kEnd,
  };
  Kind kind = Kind::kEnd;
  bool joined = false;    // nothing stands between it and the token in front
  std::string_view text;  // into the text that was read
  std::uint64_t number = 0;
  Position position;

  bool is(std::string_view mark) const { return kind == Kind::kMark && text == mark; }
  bool is_dot(std::string_view word) const { return kind == Kind::kDot && text == word; }
  bool is_name(std::string_view word) const { return kind == Kind::kName && text == word; }
};

/// How an error says it: "'foo'", "the end of the text".
std::string quoted(const Token& token);
/// The same of any text, shortened, with what cannot be printed as \xNN.
std::string quoted(std::string_view text);

/// Reads one token after the other. Comments, lines that begin with '#' and NULs at the end of the
/// text are passed over. Written by hand: a dozen kinds of token need no generator, and every error
/// can say where it is.
class Lexer {
 public:
  /// `text` outlives the lexer and its tokens.
  explicit Lexer(std::string_view text);

  /// The next token; kEnd for ever behind the last. Throws Problem for what is no token; the next
  /// call goes on
  /// behind it.
  Token next();

 private:
  char peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  void skip_blanks();
  Token token(Token::Kind kind, std::size_t size);
  Token number();
  Token string();
  std::size_t dot_word_size() const;
  [[noreturn]] void fail(std::size_t size, std::string_view expected);
  Position position() const { return {line_, static_cast<std::uint32_t>(at_ - line_begin_ + 1)}; }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t line_begin_ = 0;
  std::uint32_t line_ = 1;
};

}  // namespace warptwin::ptx
