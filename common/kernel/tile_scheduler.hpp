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
  friend constexpr bool operator==(Tile, Tile) = default;
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
  /// The CTAs, or clusters, that share the tiles, where 0 stands for one for each.
  constexpr std::uint32_t ctas(std::uint32_t wanted) const {
    return wanted == 0 ? count() : wanted;
  }
  /// The same in units of what a cluster computes at once: one tile for each of its CTAs.
  constexpr TileGrid in_clusters(const ClusterShape& cluster) const {
    return {ceil_div(m, cluster.m), ceil_div(n, cluster.n)};
  }
};

enum class RasterOrder : std::uint8_t { kAlongM, kAlongN };

/// The order of a grid's tiles: a permutation of them, chosen for what neighbours share in L2.
///
/// `raster` says which way tiles are counted. With a `swizzle` of w, as many columns as whole
/// strips of w hold are walked strip by strip: w tiles along N, then the next row, back and forth.
/// The columns that are left keep their order. 0: none are.
struct TileOrder {
  RasterOrder raster = RasterOrder::kAlongM;
  std::uint32_t swizzle = 0;

  /// The tile that comes at `index`.
  constexpr Tile at(const TileGrid& grid, std::uint32_t index) const {
    const bool along_m = raster == RasterOrder::kAlongM;
    const Tile tile =
        along_m ? Tile{index % grid.m, index / grid.m} : Tile{index / grid.n, index % grid.n};
    const std::uint32_t columns = swizzle == 0 ? 0 : grid.n / swizzle * swizzle;
    if (tile.n >= columns) {
      return tile;
    }
    const std::uint32_t rank =  // among the tiles of those columns
        along_m ? tile.m + tile.n * grid.m : tile.m * columns + tile.n;
    const std::uint32_t strip = rank / (swizzle * grid.m);
    const std::uint32_t row = rank % (swizzle * grid.m) / swizzle;
    return {strip % 2 == 0 ? row : grid.m - 1 - row, strip * swizzle + rank % swizzle};
  }
};

/// The tiles of one CTA, by the number of its cluster's tile: the cluster computes one for each of
/// its CTAs, and a CTA's own may lie beyond the matrix.
class ClusterTiles {
 public:
  constexpr ClusterTiles(const TileGrid& grid,
                         const ClusterShape& cluster,
                         std::uint32_t rank,
                         const TileOrder& order = {})
      : grid_{grid.in_clusters(cluster)},
        cluster_{cluster},
        order_{order},
        own_{cluster.rank_m(rank), cluster.rank_n(rank)} {}

  constexpr Tile at(std::uint32_t index) const {
    const Tile first = order_.at(grid_, index);
    return {first.m * cluster_.m + own_.m, first.n * cluster_.n + own_.n};
  }
  constexpr std::uint32_t count() const { return grid_.count(); }

 private:
  TileGrid grid_;  // of clusters' tiles
  ClusterShape cluster_;
  TileOrder order_;
  Tile own_;  // in a cluster's tile
};

/// The tiles of one CTA. Its cluster takes every `step`-th of the clusters' tiles from `first` on,
/// in their order, and the CTA its own tile of each. A cluster beyond the last tile has none. Use
/// it in a range-based for.
class StaticTileScheduler {
 public:
  class Iterator {
   public:
    constexpr explicit Iterator(const StaticTileScheduler& scheduler)
        : scheduler_{scheduler}, index_{scheduler.first_} {}
    constexpr Tile operator*() const { return scheduler_.tiles_.at(index_); }
    constexpr Iterator& operator++() {
      index_ += scheduler_.step_;
      return *this;
    }
    /// The end: steps do not meet the last tile exactly.
    constexpr bool operator!=(std::uint32_t count) const { return index_ < count; }

   private:
    const StaticTileScheduler& scheduler_;
    std::uint32_t index_;
  };

  constexpr StaticTileScheduler(const TileGrid& grid,
                                std::uint32_t first,
                                std::uint32_t step,
                                const ClusterShape& cluster = {},
                                std::uint32_t rank = 0,
                                const TileOrder& order = {})
      : tiles_{grid, cluster, rank, order}, first_{first}, step_{step} {}
  /// The tiles of the CTA that `machine` is a warp of.
  template <Machine M>
  constexpr StaticTileScheduler(const TileGrid& grid,
                                const M& machine,
                                const ClusterShape& cluster = {},
                                const TileOrder& order = {})
      : StaticTileScheduler{grid,
                            machine.cluster_index(),
                            machine.cluster_count(),
                            cluster,
                            machine.cta_rank(),
                            order} {}

  constexpr Iterator begin() const { return Iterator{*this}; }
  constexpr std::uint32_t end() const { return tiles_.count(); }

 private:
  ClusterTiles tiles_;
  std::uint32_t first_;
  std::uint32_t step_;
};

}  // namespace warptwin
