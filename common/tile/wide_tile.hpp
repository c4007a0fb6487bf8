/// An operand whose rows are longer than a swizzle span.

#pragma once

#include <algorithm>
#include <cstdint>

#include "common/machine/machine.hpp"
#include "common/machine/shared_tile.hpp"
#include "common/pipeline/typestate.hpp"
#include "common/sync/cluster_shape.hpp"
#include "common/tile/operand_tile.hpp"

namespace warptwin {

/// `rows` by `columns` as panels side by side: each a tile of the same rows whose columns are one
/// swizzle span, the next one right behind it. As an operand it is K-major.
///
/// Requires: a row of 32, 64 or a multiple of 128 bytes; rows a multiple of 8.
template <class Element>
struct WideTile {
  SharedAddress base;         // of panel 0
  std::uint32_t rows = 0;     // of every panel
  std::uint32_t columns = 0;  // elements of a row, of all panels

  /// Of all panels: nothing lies between them.
  constexpr std::uint32_t bytes() const {
    return rows * columns * SharedTile<Element>::kElementBytes;
  }
  /// Elements of a panel's row: at most 128 bytes.
  constexpr std::uint32_t panel_columns() const {
    return std::min(columns, 128 / SharedTile<Element>::kElementBytes);
  }
  constexpr std::uint32_t panels() const { return columns / panel_columns(); }  // side by side
  /// Panel `index`, from the left, with the swizzle whose span is its row.
  constexpr SharedTile<Element> panel(std::uint32_t index) const {
    const std::uint32_t row_bytes = panel_columns() * SharedTile<Element>::kElementBytes;
    return {base + index * rows * row_bytes, rows, panel_columns(), swizzle_of(row_bytes)};
  }
};

/// An operand that is MN-major: the rows of `tile` are of K, its columns of M or N.
///
/// Requires: rows a multiple of an instruction's K; columns of whole panels where an element has 32
///           bits.
template <class Element>
struct MnMajorTile {
  WideTile<Element> tile;  // as it lies in shared memory

  /// Panel `index`. Elements of 32 bits have one layout, whose swizzle keeps 32 bytes together
  /// (PTX ISA, "Canonical layouts").
  constexpr SharedTile<Element> panel(std::uint32_t index) const {
    SharedTile<Element> panel = tile.panel(index);
    if (SharedTile<Element>::kElementBytes == 4) {
      panel.swizzle = Swizzle::k128BAtom32B;
    }
    return panel;
  }
};

/// An MN-major tile of one CTA's stage that TMA fills and a tensor core reads.
template <class Element>
struct MnOperandTile {
  MnMajorTile<Element> tile;        // where it lies in the stage
  Operand operand = Operand::kOwn;  // who of the cluster shares it
};

/// Copies this CTA's slice of a shared tile, whole panels of it, to all who share it; see
/// `load_slice` of a K-major one.
///
/// Shape:        `at` counts tiles of the operand: its row is of M or N. The map's box is
///               one panel.
/// Requires:     as many panels in each slice.
/// Participants: the whole warp; one elected lane issues. Blocks: never.
template <Machine M, class Element>
constexpr void load_slice(M& machine,
                          const typename M::TensorMap& map,
                          TileIndex at,
                          const MnOperandTile<Element>& operand,
                          Mbarrier full,
                          const ClusterShape& cluster,
                          SourceSite site) {
  const WideTile<Element>& tile = operand.tile.tile;
  const OperandSlice slice = cluster.slice(operand.operand, machine.cta_rank());
  const std::uint32_t panels = tile.panels() / slice.count;
  for (std::uint32_t i = 0; i < panels; ++i) {
    const std::uint32_t panel = slice.index * panels + i;
    const std::uint32_t column = at.row * tile.columns + panel * tile.panel_columns();
    const Coordinates<2> from{
        {static_cast<std::int32_t>(column), static_cast<std::int32_t>(at.column * tile.rows)}};
    machine.cp_async_bulk_tensor_load(
        tile.panel(panel).base, map, from, CopyTarget{full, slice.multicast, cluster.group}, site);
  }
}

/// Copies the tile whose first element is at `row`, `column` into a stage held, panel by panel.
///
/// Shape:        the map's box is one panel.
/// Participants: the whole warp; one elected lane issues. Blocks: never.
template <class Stage, class TensorMap, class Element>
constexpr void load_panels(WARPTWIN_HELD Stage& stage,
                           const TensorMap& map,
                           std::uint32_t row,
                           std::uint32_t column,
                           const WideTile<Element>& tile,
                           SourceSite site = SourceSite::current()) {
  for (std::uint32_t i = 0; i < tile.panels(); ++i) {
    const Coordinates<2> from{{static_cast<std::int32_t>(column + i * tile.panel_columns()),
                               static_cast<std::int32_t>(row)}};
    stage.load(map, from, tile.panel(i).base, site);
  }
}

/// The same of a tile that CTAs share: each copies its `slice` of the rows to all of them.
///
/// Shape:        the map's box is the slice of one panel.
/// Participants: the whole warp; one elected lane issues. Blocks: never.
template <class Stage, class TensorMap, class Element>
constexpr void load_panels(WARPTWIN_HELD Stage& stage,
                           const TensorMap& map,
                           std::uint32_t row,
                           std::uint32_t column,
                           const WideTile<Element>& tile,
                           const OperandSlice& slice,
                           SourceSite site = SourceSite::current()) {
  const std::uint32_t first = slice.index * (tile.rows / slice.count);
  for (std::uint32_t i = 0; i < tile.panels(); ++i) {
    const Coordinates<2> from{{static_cast<std::int32_t>(column + i * tile.panel_columns()),
                               static_cast<std::int32_t>(row + first)}};
    const SharedTile<Element> panel = tile.panel(i);
    stage.load(map, from, panel.base + first * panel.row_bytes(), slice.multicast, site);
  }
}

}  // namespace warptwin
