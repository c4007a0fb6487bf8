/// Which output tiles a CTA computes, decided by its place in the grid alone.

#pragma once

#include <cstdint>

#include "common/machine/machine.hpp"
#include "common/machine/types.hpp"
#include "common/sync/cluster_shape.hpp"

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
  /// The same in units of what a cluster computes at once: one tile for each of its CTAs.
  constexpr TileGrid in_clusters(const ClusterShape& cluster) const {
    return {ceil_div(m, cluster.m), ceil_div(n, cluster.n)};
  }
};

/// The tiles of one CTA. Its cluster takes every `step`-th of the clusters' tiles from `first` on,
/// along M first, and the CTA its own tile of each; that may lie beyond the matrix. A cluster
/// beyond the last tile has none. Use it in a range-based for.
class StaticTileScheduler {
 public:
  class Iterator {
   public:
    constexpr explicit Iterator(const StaticTileScheduler& tiles)
        : tiles_{tiles}, index_{tiles.first_} {}
    constexpr Tile operator*() const {
      const std::uint32_t m = index_ % tiles_.grid_.m;
      const std::uint32_t n = index_ / tiles_.grid_.m;
      return {m * tiles_.cluster_.m + tiles_.own_.m, n * tiles_.cluster_.n + tiles_.own_.n};
    }
    constexpr Iterator& operator++() {
      index_ += tiles_.step_;
      return *this;
    }
    /// The end: steps do not meet the last tile exactly.
    constexpr bool operator!=(std::uint32_t count) const { return index_ < count; }

   private:
    const StaticTileScheduler& tiles_;
    std::uint32_t index_;
  };

  constexpr StaticTileScheduler(TileGrid grid,
                                std::uint32_t first,
                                std::uint32_t step,
                                const ClusterShape& cluster = {},
                                std::uint32_t rank = 0)
      : grid_{grid.in_clusters(cluster)},
        first_{first},
        step_{step},
        cluster_{cluster},
        own_{cluster.rank_m(rank), cluster.rank_n(rank)} {}
  /// The tiles of the CTA that `machine` is a warp of.
  template <Machine M>
  constexpr StaticTileScheduler(TileGrid grid, const M& machine, const ClusterShape& cluster = {})
      : StaticTileScheduler{
            grid, machine.cluster_index(), machine.cluster_count(), cluster, machine.cta_rank()} {}

  constexpr Iterator begin() const { return Iterator{*this}; }
  constexpr std::uint32_t end() const { return grid_.count(); }

 private:
  TileGrid grid_;  // of clusters' tiles
  std::uint32_t first_;
  std::uint32_t step_;
  ClusterShape cluster_;
  Tile own_;  // in a cluster's tile
};

}  // namespace warptwin
