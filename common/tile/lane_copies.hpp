/// Tiles of matrices that no tensor map describes, for their rows begin at no multiple of 16
/// bytes: lanes copy them, 4, 8 or 16 bytes at a time.

#pragma once

#include <algorithm>
#include <cstdint>

#include "common/machine/extent.hpp"
#include "common/machine/machine.hpp"
#include "common/machine/shared_tile.hpp"
#include "common/tile/operand_tile.hpp"

namespace warptwin {

/// A matrix in global memory, row after row.
template <class Element>
struct MatrixRows {
  GlobalAddress base;         // of its first element
  std::uint32_t rows = 0;     // of the matrix
  std::uint32_t columns = 0;  // elements of a row

  /// What one lane copies of the row, from byte `byte` on, to a place: nothing from outside.
  constexpr CopyOfLane piece(std::uint32_t row,
                             std::uint32_t byte,
                             SharedAddress to,
                             std::uint32_t bytes) const {
    const std::uint32_t pitch = columns * SharedTile<Element>::kElementBytes;
    if (row >= rows || byte >= pitch) {
      return {to, base, 0};
    }
    return {to, {base.value + std::uint64_t{row} * pitch + byte}, std::min(bytes, pitch - byte)};
  }
};

/// Which of the warps that do something together the calling one is.
struct WarpShare {
  std::uint32_t warp = 0;   // its place among them
  std::uint32_t warps = 1;  // how many they are
};

/// Copies the calling warp's share of tile `at` of a matrix, `bytes` a lane; what lies outside is
/// zeros. The copies are under way when this returns.
///
/// Shape:        the tile is a multiple of 32 lanes' copies; rows of the matrix are multiples of
///               `bytes`, 4, 8 or 16.
/// Participants: the whole warp. Blocks: never.
template <Machine M, class Element, class Bytes>
constexpr void copy_rows(M& machine,
                         const MatrixRows<Element>& from,
                         TileIndex at,
                         const SharedTile<Element>& tile,
                         Bytes bytes,
                         WarpShare share,
                         SourceSite site = SourceSite::current()) {
  const std::uint32_t in_row = tile.row_bytes() / bytes;
  const std::uint32_t all = tile.rows * in_row;
  for (std::uint32_t first = share.warp * kWarpLanes; first < all;
       first += share.warps * kWarpLanes) {
    machine.cp_async(
        bytes,
        [&](std::uint32_t lane) {  // what each has of its own does not change from copy to copy
          const std::uint32_t row = first / in_row + lane / in_row;
          const std::uint32_t byte = lane % in_row * bytes;
          return from.piece(at.row * tile.rows + row,
                            at.column * tile.row_bytes() + byte,
                            tile.base + swizzled(row * tile.row_bytes() + byte, tile.swizzle),
                            bytes);
        },
        site);
  }
}

}  // namespace warptwin
