/// How GoogleTest prints types of the machine that parametrise tests.

#pragma once

#include <iterator>
#include <ostream>

#include "common/machine/shared_tile.hpp"
#include "common/machine/umma_descriptor.hpp"

namespace warptwin {

inline void PrintTo(Swizzle swizzle, std::ostream* out) {
  *out << "spans of " << static_cast<std::uint32_t>(swizzle) << " B";
}

inline void PrintTo(MmaKind kind, std::ostream* out) {
  constexpr const char* kNames[] = {"f16", "tf32", "f8f6f4", "mxf8f6f4", "mxf4", "mxf4nvf4", "i8"};
  static_assert(std::size(kNames) == static_cast<std::size_t>(MmaKind::kI8) + 1);
  *out << kNames[static_cast<std::size_t>(kind)];
}

}  // namespace warptwin
