/// What the fuzz targets share. A target is libFuzzer's entry point in a file of its own: any bytes
/// are read, or refused with an error of the kind that the command turns into exit code 2.

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace warptwin::fuzz {

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

/// Ends the program where a claim does not hold.
inline void require(bool holds, const char* what, const std::string& text) {
  if (!holds) {
    std::fprintf(stderr, "%s:\n%s\n", what, text.c_str());
    std::abort();
  }
}

/// For an error that names what is wrong: the place first, in words of its own and of the input.
inline void require_place(const std::string& error,
                          std::string_view place,
                          std::string_view input) {
  constexpr std::string_view kOfLibrary = "json.exception";
  require(error.starts_with(place), "an error without its place", error);
  require(error.find(kOfLibrary) == std::string::npos || input.find(kOfLibrary) != input.npos,
          "an error in a library's words",
          error);
}

}  // namespace warptwin::fuzz
