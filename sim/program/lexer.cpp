#include "sim/program/lexer.hpp"

#include <charconv>
#include <cstdio>

#include "common/kernel/scenario.hpp"

namespace warptwin::sim {

namespace {

constexpr std::size_t kTextBytesMax = std::size_t{4} << 20;

bool starts_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool in_word(char c) {
  return starts_word(c) || is_digit(c);
}

class Lexer {
 public:
  Lexer(std::string_view text, std::string_view file) : text_{text}, file_{file} {}

  std::vector<Token> run() {
    while (at_ < text_.size()) {
      next();
    }
    push(Token::Kind::kNewline, 0);
    push(Token::Kind::kEnd, 0);
    return std::move(tokens_);
  }

 private:
  char peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  Token& push(Token::Kind kind, std::size_t size) {
    Token& token = tokens_.emplace_back();
    token.kind = kind;
    token.text = text_.substr(at_, size);
    token.line = line_;
    token.column = static_cast<std::uint32_t>(at_ - line_begin_ + 1);
    at_ += size;
    return token;
  }
  void next() {
    const char c = peek();
    if (c == '\n') {
      push(Token::Kind::kNewline, 1);
      ++line_;
      line_begin_ = at_;
    } else if (c == ';') {
      push(Token::Kind::kNewline, 1);
    } else if (c == ' ' || c == '\t' || c == '\r') {
      ++at_;
    } else if (c == '/' && peek(1) == '/') {
      while (at_ < text_.size() && peek() != '\n') {
        ++at_;
      }
    } else if (starts_word(c)) {
      push(Token::Kind::kWord, word_size());
    } else if (is_digit(c)) {
      number();
    } else if ((c == '=' || c == '!') && peek(1) == '=') {
      push(Token::Kind::kMark, 2);
    } else if (std::string_view{",:[]{}()+-*/%@"}.find(c) != std::string_view::npos && c != '\0') {
      push(Token::Kind::kMark, 1);
    } else {
      throw_expected(file_, push(Token::Kind::kMark, 1), "a word, a number or a mark");
    }
  }
  // A dot or a double colon goes on, if a word character is behind it.
  std::size_t word_size() const {
    std::size_t size = 0;
    for (;;) {
      while (in_word(peek(size))) {
        ++size;
      }
      if (peek(size) == '.' && in_word(peek(size + 1))) {
        ++size;
      } else if (peek(size) == ':' && peek(size + 1) == ':' && in_word(peek(size + 2))) {
        size += 2;
      } else {
        return size;
      }
    }
  }
  void number() {
    const bool hex = peek() == '0' && (peek(1) == 'x' || peek(1) == 'X');
    std::size_t size = hex ? 2 : 0;
    while (in_word(peek(size))) {
      ++size;
    }
    Token& token = push(Token::Kind::kNumber, size);
    const char* begin = token.text.data() + (hex ? 2 : 0);
    const char* end = token.text.data() + size;
    const auto [stop, error] = std::from_chars(begin, end, token.number, hex ? 16 : 10);
    if (error != std::errc{} || stop != end) {
      throw_expected(file_, token, "a whole number");
    }
  }

  std::string_view text_;
  std::string_view file_;
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  std::size_t line_begin_ = 0;
  std::uint32_t line_ = 1;
};

}  // namespace

std::string quoted(const Token& token) {
  constexpr std::size_t kShown = 60;
  if (token.kind == Token::Kind::kNewline || token.kind == Token::Kind::kEnd) {
    return token.kind == Token::Kind::kNewline ? "the end of the line" : "the end of the text";
  }
  std::string text = "'";
  for (const char c : token.text.substr(0, kShown)) {
    if (c >= ' ' && c <= '~') {
      text += c;
    } else {
      char code[8];
      std::snprintf(code, sizeof code, "\\x%02x", static_cast<unsigned char>(c));
      text += code;
    }
  }
  return text + (token.text.size() > kShown ? "...'" : "'");
}

void throw_expected(std::string_view file, const Token& found, std::string_view expected) {
  throw ConfigError(std::string{file} + ":" + std::to_string(found.line) + ":" +
                    std::to_string(found.column) + ": expected " + std::string{expected} +
                    ", found " + quoted(found));
}

std::vector<Token> tokens_of(std::string_view text, std::string_view file) {
  if (text.size() > kTextBytesMax) {
    throw ConfigError(std::string{file} + ": has " + std::to_string(text.size()) +
                      " bytes; a program has at most " + std::to_string(kTextBytesMax));
  }
  return Lexer{text, file}.run();
}

}  // namespace warptwin::sim
