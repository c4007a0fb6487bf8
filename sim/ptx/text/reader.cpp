#include <algorithm>
#include <iterator>

#include "sim/ptx/text/parser.hpp"

namespace warptwin::ptx {

namespace {

// From weakest to strongest; a level's operators bind alike.
constexpr std::string_view kOperators[][3] = {
    {"|"}, {"^"}, {"&"}, {"<<", ">>"}, {"+", "-"}, {"*", "/", "%"}};
constexpr int kLevels = 6;

std::uint64_t combine(std::string_view mark, std::uint64_t a, std::uint64_t b, Position position) {
  switch (mark.front()) {
    case '|':
      return a | b;
    case '^':
      return a ^ b;
    case '&':
      return a & b;
    case '<':
      return b < 64 ? a << b : 0;
    case '>':
      return b < 64 ? a >> b : 0;
    case '+':
      return a + b;
    case '-':
      return a - b;
    case '*':
      return a * b;
    default:
      if (b == 0) {
        Reader::refuse(position, "a constant expression divides by zero");
      }
      return mark.front() == '/' ? a / b : a % b;
  }
}

}  // namespace

void Reader::advance() {
  try {
    next_ = lexer_.next();
  } catch (const Problem& problem) {
    next_ = Token{Token::Kind::kMark, false, "?", 0, problem.position};
    throw;
  }
}

Token Reader::take() {
  Token taken = next_;
  if (!at_end()) {
    advance();
  }
  return taken;
}

bool Reader::take_if(std::string_view mark) {
  if (!next_.is(mark)) {
    return false;
  }
  advance();
  return true;
}

bool Reader::take_if_dot(std::string_view word) {
  if (!next_.is_dot(word)) {
    return false;
  }
  advance();
  return true;
}

void Reader::fail(const Token& found, std::string_view expected) {
  throw Problem{found.position, "expected " + std::string{expected} + ", found " + quoted(found)};
}

void Reader::expect(std::string_view mark) {
  if (!take_if(mark)) {
    fail(quoted(mark));
  }
}

std::string_view Reader::name(std::string_view what) {
  if (next_.kind != Token::Kind::kName) {
    fail(what);
  }
  return take().text;
}

std::string_view Reader::dot_word(std::string_view what) {
  if (next_.kind != Token::Kind::kDot) {
    fail(what);
  }
  return take().text;
}

std::uint64_t Reader::factor(std::string_view what, std::uint32_t depth) {
  check_depth(depth);
  if (take_if("-")) {
    return 0 - factor(what, depth + 1);
  }
  if (take_if("+")) {
    return factor(what, depth + 1);
  }
  if (take_if("~")) {
    return ~factor(what, depth + 1);
  }
  if (take_if("!")) {
    return factor(what, depth + 1) == 0 ? 1 : 0;
  }
  if (take_if("(")) {
    if (next_.is_dot("u64") || next_.is_dot("s64")) {  // a cast: all values have 64 bits
      advance();
      expect(")");
      return factor(what, depth + 1);
    }
    const std::uint64_t value = sum(what, 0, depth + 1);
    expect(")");
    return value;
  }
  if (next_.is_name("WARP_SZ")) {
    advance();
    return 32;
  }
  if (next_.kind != Token::Kind::kInteger) {
    fail(what);
  }
  return take().number;
}

std::uint64_t Reader::sum(std::string_view what, int level, std::uint32_t depth) {
  if (level == kLevels) {
    return factor(what, depth);
  }
  std::uint64_t value = sum(what, level + 1, depth);
  for (;;) {
    const Token mark = next_;
    bool found = false;
    for (const std::string_view candidate : kOperators[level]) {
      found = found || (!candidate.empty() && mark.is(candidate));
    }
    if (!found) {
      return value;
    }
    advance();
    value = combine(mark.text, value, sum(what, level + 1, depth), mark.position);
  }
}

std::uint32_t Reader::u32(std::string_view what, std::uint64_t least, std::uint64_t most) {
  const Token at = next_;
  const std::uint64_t value = integer(what);
  if (value < least || value > most) {
    fail(at, std::string{what} + " from " + std::to_string(least) + " to " + std::to_string(most));
  }
  return static_cast<std::uint32_t>(value);
}

std::uint32_t Reader::count(std::string_view what, std::uint64_t most) {
  if (next_.kind != Token::Kind::kInteger || next_.number > most) {
    fail(std::string{what} + " from 0 to " + std::to_string(most));
  }
  return static_cast<std::uint32_t>(take().number);
}

void Reader::check_depth(std::uint32_t depth) const {
  if (depth > limits.depth) {
    refuse(next_.position,
           "this is nested " + std::to_string(depth) + " deep; at most " +
               std::to_string(limits.depth) + " is read");
  }
}

void Reader::skip_statement() {
  while (!at_end() && !next_.is("{") && !next_.is("}")) {
    const bool last = next_.is(";");
    skip_token();
    if (last) {
      return;
    }
  }
}

void Reader::skip_braces() {
  for (std::uint32_t depth = 1; depth > 0;) {
    if (at_end()) {
      fail("'}'");
    }
    depth += next_.is("{") ? 1 : 0;
    depth -= next_.is("}") ? 1 : 0;
    skip_token();
  }
}

void Reader::skip_to_top_level() {
  static constexpr std::string_view kFirst[] = {
      "visible", "extern", "weak", "common", "entry", "func", "file", "section"};
  do {
    skip_token();
  } while (!at_end() &&
           !(next_.kind == Token::Kind::kDot &&
             std::find(std::begin(kFirst), std::end(kFirst), next_.text) != std::end(kFirst)));
}

// What is no token is part of what is passed over: something in front of it is reported already.
void Reader::skip_token() {
  try {
    take();
  } catch (const Problem&) {
    return;
  }
}

}  // namespace warptwin::ptx
