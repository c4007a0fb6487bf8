/// The words of a program's text.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace warptwin::sim {

struct Token {
  /// A word may have dots and double colons inside: "fence.proxy.async.shared::cta".
  enum class Kind : std::uint8_t { kWord, kNumber, kMark, kNewline, kEnd };
  Kind kind = Kind::kEnd;
  std::string_view text;  // into the text that was read
  std::uint64_t number = 0;
  std::uint32_t line = 1;
  std::uint32_t column = 1;

  bool is(std::string_view what) const { return text == what && kind != Kind::kNumber; }
};

/// How an error says it: "'full'", "the end of the line".
std::string quoted(const Token& token);

/// "file:line:column: expected X, found Y".
[[noreturn]] void throw_expected(std::string_view file,
                                 const Token& found,
                                 std::string_view expected);

/// The tokens of `text`, the last of kind kEnd. Newlines and ';' end a line; `//` begins a comment.
/// Throws ConfigError.
std::vector<Token> tokens_of(std::string_view text, std::string_view file);

}  // namespace warptwin::sim
