/// A tile in a pipeline's stage, and who of the cluster shares it.

#pragma once

#include <cstdint>

#include "common/machine/machine.hpp"
#include "common/machine/shared_tile.hpp"
#include "common/sync/cluster_shape.hpp"

namespace warptwin {

/// A byte of scale factors: no number by itself.
struct ScaleByte {
  using Storage = std::uint8_t;                           // a byte, whatever it holds
  static constexpr ElementType kType = ElementType::kU8;  // moved as it is, never computed with
};

/// A tile of one CTA's stage that TMA fills and a tensor core or an epilogue reads.
template <class Element>
struct OperandTile {
  SharedTile<Element> tile;         // where it lies in the stage
  Operand operand = Operand::kOwn;  // who of the cluster shares it
};

/// Which tile of a matrix, counted in tiles: row first, as matrices are written.
struct TileIndex {
  std::uint32_t row = 0;     // in tiles, from the first row of the matrix
  std::uint32_t column = 0;  // in tiles, from its first column
};

/// The same of one of several matrices, which a map has as its outermost dimension.
struct BatchTileIndex {
  std::uint32_t row = 0;     // in tiles, from the first row of the matrix
  std::uint32_t column = 0;  // in tiles, from its first column
  std::uint32_t batch = 0;   // which matrix
};

/// The coordinates of an element of the matrix that the index is of.
constexpr Coordinates<2> coordinates_of(TileIndex, std::uint32_t column, std::uint32_t row) {
  return {{static_cast<std::int32_t>(column), static_cast<std::int32_t>(row)}};
}
/// The same of one of several matrices.
constexpr Coordinates<3> coordinates_of(const BatchTileIndex& at,
                                        std::uint32_t column,
                                        std::uint32_t row) {
  return {{static_cast<std::int32_t>(column),
           static_cast<std::int32_t>(row),
           static_cast<std::int32_t>(at.batch)}};
}

/// The swizzle whose span is one row; rows of a stage tile are exactly one span long.
constexpr Swizzle swizzle_of(std::uint32_t row_bytes) {
  switch (row_bytes) {
    case 128:
      return Swizzle::k128B;
    case 64:
      return Swizzle::k64B;
    case 32:
      return Swizzle::k32B;
    default:
      return Swizzle::kNone;
  }
}

/// Tiles of one stage start at multiples of this, so that every swizzle pattern starts at phase 0.
inline constexpr std::uint32_t kTileAlignment = alignment_of(Swizzle::k128B);

/// Copies this CTA's slice of a shared tile to all who share it; a tile that nobody shares is
/// copied whole. The bytes are counted on `full` of every receiver, or of its pair's leader.
///
/// Shape:        `at` counts tiles of the operand's shape, of a matrix or of one of several (a
///               `TileIndex` or a `BatchTileIndex`); the map's box is one slice of it.
/// Participants: the whole warp; one elected lane issues. Blocks: never.
template <Machine M, class Element, class Index = TileIndex>
constexpr void load_slice(M& machine,
                          const typename M::TensorMap& map,
                          const Index& at,
                          const OperandTile<Element>& operand,
                          Mbarrier full,
                          const ClusterShape& cluster,
                          SourceSite site) {
  const SharedTile<Element>& tile = operand.tile;
  const OperandSlice slice = cluster.slice(operand.operand, machine.cta_rank());
  const std::uint32_t first_row = slice.index * (tile.rows / slice.count);
  const auto from = coordinates_of(at, at.column * tile.columns, at.row * tile.rows + first_row);
  machine.cp_async_bulk_tensor_load(tile.base + first_row * tile.row_bytes(),
                                    map,
                                    from,
                                    CopyTarget{full, slice.multicast, cluster.group},
                                    site);
}

}  // namespace warptwin
