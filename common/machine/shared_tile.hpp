/// A matrix tile in shared memory, with the swizzle that TMA writes and the tensor core reads.

#pragma once

#include <cstdint>

#include "common/machine/element.hpp"
#include "common/machine/types.hpp"

namespace warptwin {

/// The swizzle of a tile: the value is the span of the pattern in bytes. Units are of 16 bytes.
enum class Swizzle : std::uint8_t {
  kNone = 0,           // every unit lies where its offset says
  k32B = 32,           // 2 units are permuted
  k64B = 64,           // 4 units are permuted
  k128B = 128,         // 8 units are permuted
  k128BAtom32B = 129,  // 4 units of 32 bytes are permuted: CuTe's Swizzle<2, 5, 2>, and
                       // CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B. Of MN-major operands of 32 bits
};

/// Bytes that stay together.
constexpr std::uint32_t unit_of(Swizzle swizzle) {
  return swizzle == Swizzle::k128BAtom32B ? 32 : 16;
}

/// Bytes within which units are permuted; 0: none are.
constexpr std::uint32_t span_of(Swizzle swizzle) {
  return static_cast<std::uint32_t>(swizzle) / 16 * 16;
}

/// Where the pattern of a swizzle starts, in bytes (PTX ISA, "swizzling modes").
constexpr std::uint32_t alignment_of(Swizzle swizzle) {
  return swizzle == Swizzle::kNone ? 128U : span_of(swizzle) / unit_of(swizzle) * 128;
}

/// The byte a linear offset is stored at: units are permuted within each pattern by the number of
/// the 128-byte line they lie in. Its own inverse.
constexpr std::uint32_t swizzled(std::uint32_t offset, Swizzle swizzle) {
  if (swizzle == Swizzle::kNone) {
    return offset;
  }
  const std::uint32_t units = span_of(swizzle) / unit_of(swizzle);  // 2, 4 or 8
  return offset ^ (((offset >> 7) & (units - 1)) * unit_of(swizzle));
}

/// Rows of `row_bytes`, one after the other from `base`; `row_bytes` is at most the swizzle span,
/// so
/// that a row is one line of the TMA box. A wider matrix is several tiles side by side.
template <class Element>
struct SharedTile {
  SharedAddress base;                // of the first row; aligned to `alignment_of(swizzle)`
  std::uint32_t rows = 0;            // of the tile
  std::uint32_t columns = 0;         // elements of a row
  Swizzle swizzle = Swizzle::kNone;  // how its 16-byte units are permuted

  /// Bytes of one element.
  static constexpr std::uint32_t kElementBytes = sizeof(typename Element::Storage);

  constexpr std::uint32_t row_bytes() const { return columns * kElementBytes; }  // from row to row
  constexpr std::uint32_t bytes() const { return rows * row_bytes(); }  // of the whole tile
  /// The address of element (row, column).
  constexpr SharedAddress at(std::uint32_t row, std::uint32_t column) const {
    return base + swizzled(row * row_bytes() + column * kElementBytes, swizzle);
  }
};

}  // namespace warptwin
