/// Words that reports have in common.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace warptwin {

/// "1 operation", "3 operations".
inline std::string plural(std::uint64_t count, const char* what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

/// "file.hpp:12", the last two parts of the path: the same wherever the sources lie. Empty where
/// `line` is 0.
inline std::string short_site(std::string_view file, std::uint32_t line) {
  if (line == 0) {
    return "";
  }
  std::size_t cut = file.rfind('/');
  cut = cut == std::string_view::npos || cut == 0 ? cut : file.rfind('/', cut - 1);
  return std::string{cut == std::string_view::npos ? file : file.substr(cut + 1)} + ":" +
         std::to_string(line);
}

}  // namespace warptwin
