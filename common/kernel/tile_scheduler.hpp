/// Which output tiles a CTA computes, decided by its place in the grid alone.

#pragma once

#include <cstdint>

#include "common/machine/machine.hpp"
#include "common/machine/types.hpp"

namespace warptwin {

/// An output tile, counted in tiles.
struct Tile {
  std::uint32_t m = 0;
  std::uint32_t n = 0;
};

/// The tiles of an output matrix.
struct TileGrid {
  std::uint32_t m = 0;
  std::uint32_t n = 0;

  /// The tiles that cover `rows` by `columns`; the last ones may reach beyond.
  static constexpr TileGrid covering(std::uint32_t rows,
                                     std::uint32_t columns,
                                     std::uint32_t tile_rows,
                                     std::uint32_t tile_columns) {
    return {ceil_div(rows, tile_rows), ceil_div(columns, tile_columns)};
  }
  constexpr std::uint32_t count() const { return m * n; }
};

/// The tiles of one cluster: every `step`-th of the grid from `first` on, along M first. A cluster
/// beyond the last tile has none. Use it in a range-based for.
class StaticTileScheduler {
 public:
  class Iterator {
   public:
    constexpr Iterator(std::uint32_t index, std::uint32_t step, std::uint32_t tiles_m)
        : index_{index}, step_{step}, tiles_m_{tiles_m} {}
    constexpr Tile operator*() const { return {index_ % tiles_m_, index_ / tiles_m_}; }
    constexpr Iterator& operator++() {
      index_ += step_;
      return *this;
    }
    /// The end: steps do not meet the last tile exactly.
    constexpr bool operator!=(std::uint32_t count) const { return index_ < count; }

   private:
    std::uint32_t index_;
    std::uint32_t step_;
    std::uint32_t tiles_m_;
  };

  constexpr StaticTileScheduler(TileGrid grid, std::uint32_t first, std::uint32_t step)
      : grid_{grid}, first_{first}, step_{step} {}
  /// The tiles of the cluster that `machine` is a warp of.
  template <Machine M>
  constexpr StaticTileScheduler(TileGrid grid, const M& machine)
      : StaticTileScheduler{grid, machine.cluster_index(), machine.cluster_count()} {}

  constexpr Iterator begin() const { return {first_, step_, grid_.m}; }
  constexpr std::uint32_t end() const { return grid_.count(); }

 private:
  TileGrid grid_;
  std::uint32_t first_;
  std::uint32_t step_;
};

}  // namespace warptwin
