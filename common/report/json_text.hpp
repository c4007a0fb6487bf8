/// What readers of JSON ask of a text beside the library that parses it.

#pragma once

#include <cstddef>
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

}  // namespace warptwin
