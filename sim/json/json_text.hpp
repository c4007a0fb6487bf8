/// JSON as text. nlohmann's parser and its writer are compiled once, behind the functions here.

#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace warptwin {

/// Whether lists and objects stand in each other deeper than in any file of ours. Such a text is
/// refused before it is parsed: what prints a value, as an error does, recurses.
inline bool nests_too_deep(std::string_view text) {
  constexpr std::size_t kDepthMax = 100;
  std::size_t depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string && c == '\\') {
      ++i;
    } else if (c == '"') {
      in_string = !in_string;
    } else if (!in_string && (c == '[' || c == '{') && ++depth > kDepthMax) {
      return true;
    } else if (!in_string && (c == ']' || c == '}') && depth != 0) {
      --depth;
    }
  }
  return false;
}

/// What such a text is refused with.
inline constexpr const char* kNestsTooDeep = "lists and objects nest more than 100 deep";

/// What nlohmann's error says, without the number that it begins with:
/// "[json.exception.parse_error.101] parse error at line 1, column 2: ...".
inline std::string words_of_json_error(std::string_view what) {
  const std::size_t number_ends = what.find("] ");
  return std::string{number_ends == what.npos ? what : what.substr(number_ends + 2)};
}

/// The value that a text says, for nlohmann's `json` and `ordered_json`. Throws its `parse_error`.
template <class Json>
Json parsed_json(std::string_view text);

/// The same of a text that may be none: it is then a value that `is_discarded()`.
template <class Json>
Json json_if_any(std::string_view text);

/// A value as a text: on one line, or each level `indent` columns further. Bytes that are no UTF-8
/// become U+FFFD.
template <class Json>
std::string text_of_json(const Json& json, int indent = -1);

}  // namespace warptwin
