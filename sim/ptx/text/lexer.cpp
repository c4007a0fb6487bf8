#include "sim/ptx/text/lexer.hpp"

#include <bit>
#include <charconv>
#include <cstdio>

namespace warptwin::ptx {

namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool starts_name(char c) {
  return is_letter(c) || c == '_' || c == '$' || c == '%';
}
bool in_name(char c) {
  return is_letter(c) || is_digit(c) || c == '_' || c == '$';
}
bool in_word(char c) {
  return is_letter(c) || is_digit(c) || c == '_';
}

bool parse_digits(std::string_view digits, int base, std::uint64_t& value) {
  const char* end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, value, base);
  return error == std::errc{} && stop == end;
}

}  // namespace

std::string quoted(std::string_view text) {
  constexpr std::size_t kShown = 60;
  std::string shown = "'";
  for (const char c : text.substr(0, kShown)) {
    if (c >= ' ' && c <= '~') {
      shown += c;
    } else {
      char code[8];
      std::snprintf(code, sizeof code, "\\x%02x", static_cast<unsigned char>(c));
      shown += code;
    }
  }
  return shown + (text.size() > kShown ? "...'" : "'");
}

std::string quoted(const Token& token) {
  switch (token.kind) {
    case Token::Kind::kEnd:
      return "the end of the text";
    case Token::Kind::kDot:
      return quoted("." + std::string{token.text.substr(0, 100)});
    default:
      return quoted(token.text);
  }
}

Lexer::Lexer(std::string_view text) : text_{text} {
  while (!text_.empty() && text_.back() == '\0') {
    text_.remove_suffix(1);
  }
}

void Lexer::fail(std::size_t size, std::string_view expected) {
  const Problem problem{
      position(),
      "expected " + std::string{expected} + ", found " + quoted(text_.substr(at_, size))};
  at_ += size;
  throw problem;
}

void Lexer::skip_blanks() {
  while (at_ < text_.size()) {
    const char c = peek();
    if (c == '\n') {
      ++at_;
      ++line_;
      line_begin_ = at_;
    } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
      ++at_;
    } else if ((c == '/' && peek(1) == '/') || (c == '#' && at_ == line_begin_)) {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else if (c == '/' && peek(1) == '*') {
      const std::size_t end = text_.find("*/", at_ + 2);
      if (end == std::string_view::npos) {
        fail(text_.size() - at_, "'*/' behind '/*'");
      }
      for (; at_ < end + 2; ++at_) {
        if (peek() == '\n') {
          ++line_;
          line_begin_ = at_ + 1;
        }
      }
    } else {
      return;
    }
  }
}

Token Lexer::token(Token::Kind kind, std::size_t size) {
  Token token;
  token.kind = kind;
  token.text = text_.substr(at_, size);
  token.position = position();
  at_ += size;
  return token;
}

// Letters, digits and double colons, from behind the dot.
std::size_t Lexer::dot_word_size() const {
  std::size_t size = 1;
  for (;;) {
    while (in_word(peek(size))) {
      ++size;
    }
    if (peek(size) != ':' || peek(size + 1) != ':' || !in_word(peek(size + 2))) {
      return size;
    }
    size += 2;
  }
}

Token Lexer::number() {
  const char kind = static_cast<char>(peek(1) | 0x20);
  const std::size_t digits = kind == 'd' ? 16 : 8;
  if (peek() == '0' && (kind == 'f' || kind == 'd')) {
    std::size_t size = 2;
    while (in_word(peek(size))) {
      ++size;
    }
    std::uint64_t bits = 0;
    if (size != digits + 2 || !parse_digits(text_.substr(at_ + 2, digits), 16, bits)) {
      fail(size, kind == 'd' ? "0d and 16 hexadecimal digits" : "0f and 8 hexadecimal digits");
    }
    Token result = token(kind == 'd' ? Token::Kind::kFloat64 : Token::Kind::kFloat32, size);
    result.number = bits;
    return result;
  }
  std::size_t size = 0;
  bool decimal = false;
  while (in_word(peek(size)) || (peek(size) == '.' && is_digit(peek(size + 1))) ||
         (decimal && (peek(size) == '-' || peek(size) == '+') && (peek(size - 1) | 0x20) == 'e')) {
    decimal = decimal || peek(size) == '.';
    ++size;
  }
  const std::string_view text = text_.substr(at_, size);
  if (decimal) {
    double value = 0;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + size, value);
    if (error != std::errc{} || stop != text.data() + size) {
      fail(size, "a number");
    }
    Token result = token(Token::Kind::kFloat64, size);
    result.number = std::bit_cast<std::uint64_t>(value);
    return result;
  }
  std::string_view body = text;
  if (body.back() == 'U') {
    body.remove_suffix(1);
  }
  int base = 10;
  if (body.size() > 1 && body.front() == '0') {
    base = kind == 'x' ? 16 : kind == 'b' ? 2 : 8;
    body.remove_prefix(base == 8 ? 1 : 2);
  }
  std::uint64_t value = 0;
  if (!parse_digits(body, base, value)) {
    fail(size, "a number of at most 64 bits");
  }
  Token result = token(Token::Kind::kInteger, size);
  result.number = value;
  return result;
}

Token Lexer::string() {
  std::size_t size = 1;
  while (at_ + size < text_.size() && peek(size) != '"' && peek(size) != '\n') {
    size += peek(size) == '\\' ? 2 : 1;
  }
  if (peek(size) != '"') {
    fail(std::min(size, text_.size() - at_), "'\"' at the end of a string");
  }
  ++at_;
  Token result = token(Token::Kind::kString, size - 1);
  ++at_;
  return result;
}

Token Lexer::next() {
  const std::size_t before = at_;
  skip_blanks();
  const bool joined = before == at_;
  Token result;
  const char c = peek();
  if (at_ == text_.size()) {
    result = token(Token::Kind::kEnd, 0);
  } else if (c == '%' ? in_name(peek(1)) : starts_name(c)) {
    std::size_t size = 1;
    while (in_name(peek(size))) {
      ++size;
    }
    result = token(Token::Kind::kName, size);
  } else if (is_digit(c)) {
    result = number();
  } else if (c == '.' && in_word(peek(1))) {
    result = token(Token::Kind::kDot, dot_word_size());
    result.text.remove_prefix(1);
  } else if (c == '"') {
    result = string();
  } else if ((c == '<' || c == '>') && peek(1) == c) {
    result = token(Token::Kind::kMark, 2);
  } else if (c != '\0' &&
             std::string_view{",;:[]{}()<>=@!|&^~+-*/%"}.find(c) != std::string_view::npos) {
    result = token(Token::Kind::kMark, 1);
  } else {
    fail(1, "a word, a number or a mark of PTX");
  }
  result.joined = joined;
  return result;
}

}  // namespace warptwin::ptx
