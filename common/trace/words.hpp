/// Words that reports have in common.

#pragma once

#include <cstdint>
#include <string>

namespace warptwin {

/// "1 operation", "3 operations".
inline std::string plural(std::uint64_t count, const char* what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

}  // namespace warptwin
