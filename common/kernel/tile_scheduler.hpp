/// Which output tiles a CTA computes, decided by its place in the grid alone.

#pragma once

#include <algorithm>
#include <cstdint>

#include "common/kernel/divisor.hpp"
#include "common/machine/machine.hpp"
#include "common/machine/types.hpp"
#include "common/sync/cluster_shape.hpp"

namespace warptwin {

/// An output tile, counted in tiles.
struct Tile {
  std::uint32_t m = 0;                                     // along the rows of the matrix
  std::uint32_t n = 0;                                     // along its columns
  friend constexpr bool operator==(Tile, Tile) = default;  // the same place in the matrix
};

/// The tiles of an output matrix.
struct TileGrid {
  std::uint32_t m = 0;  // along the rows of the matrix
  std::uint32_t n = 0;  // along its columns

  /// The tiles that cover `rows` by `columns`; the last ones may reach beyond.
  static constexpr TileGrid covering(std::uint32_t rows,
                                     std::uint32_t columns,
                                     std::uint32_t tile_rows,
                                     std::uint32_t tile_columns) {
    return {ceil_div(rows, tile_rows), ceil_div(columns, tile_columns)};
  }
  constexpr std::uint32_t count() const { return m * n; }  // tiles, none left out
  /// The CTAs, or clusters, that share the tiles, where 0 stands for one for each.
  constexpr std::uint32_t ctas(std::uint32_t wanted) const {
    return wanted == 0 ? count() : wanted;
  }
  /// The same in units of what a cluster computes at once: one tile for each of its CTAs.
  constexpr TileGrid in_clusters(const ClusterShape& cluster) const {
    return {ceil_div(m, cluster.m), ceil_div(n, cluster.n)};
  }
};

/// Along which dimension of D tiles follow each other.
enum class RasterOrder : std::uint8_t {
  kAlongM,  // m counts fastest
  kAlongN,  // n counts fastest
};

/// The order of a grid's tiles: a permutation of them, chosen for what neighbours share in L2.
///
/// `raster` says which way tiles are counted. With a `swizzle` of w, as many columns as whole
/// strips of w hold are walked strip by strip: w tiles along N, then the next row, back and forth.
/// The columns that are left keep their order. 0: none are.
struct TileOrder {
  RasterOrder raster = RasterOrder::kAlongM;  // the dimension in which tiles follow each other
  std::uint32_t swizzle = 0;                  // tiles along N in a strip; 0: no strips
};

/// A grid's tiles in an order, for clusters: a cluster computes one tile for each of its CTAs at
/// once, and those at the edge may lie beyond the matrix. Made by the host, so that a GPU does not
/// divide.
class TileWalk {
 public:
  /// Of no tiles.
  constexpr TileWalk() : TileWalk{TileGrid{}} {}
  /// A grid is a walk of single CTAs, along M.
  constexpr explicit(false)
      TileWalk(const TileGrid& grid, const ClusterShape& cluster = {}, const TileOrder& order = {})
      : tiles_{grid},
        clusters_{grid.in_clusters(cluster)},
        cluster_{cluster.m, cluster.n},
        along_m_{order.raster == RasterOrder::kAlongM},
        columns_{order.swizzle == 0 ? 0 : clusters_.n / order.swizzle * order.swizzle},
        rank_{cluster.m},
        line_{std::max(along_m_ ? clusters_.m : clusters_.n, 1U)},
        width_{std::max(order.swizzle, 1U)},
        strip_{std::max(width_.value() * clusters_.m, 1U)} {}

  /// Where the tile of the CTA `rank` is in its cluster's.
  constexpr Tile place(std::uint32_t rank) const {
    const Division in_columns = rank_.divide(rank);
    return {in_columns.remainder, in_columns.quotient};
  }
  /// The tile at `place` of the cluster's that come at `index`.
  constexpr Tile at(std::uint32_t index, Tile place = {}) const {
    const Tile first = cluster_at(index);
    return {first.m * cluster_.m + place.m, first.n * cluster_.n + place.n};
  }
  /// Of the clusters' tiles.
  constexpr std::uint32_t count() const { return clusters_.count(); }
  /// Whether a CTA's tile is one of the matrix.
  constexpr bool covers(Tile tile) const { return tile.m < tiles_.m && tile.n < tiles_.n; }

 private:
  constexpr Tile cluster_at(std::uint32_t index) const {
    const Division in_lines = line_.divide(index);
    const Tile tile = along_m_ ? Tile{in_lines.remainder, in_lines.quotient}
                               : Tile{in_lines.quotient, in_lines.remainder};
    if (tile.n >= columns_) {
      return tile;
    }
    const std::uint32_t rank =  // among the tiles of those columns
        along_m_ ? index : tile.m * columns_ + tile.n;
    const Division in_strips = strip_.divide(rank);
    const Division in_rows = width_.divide(in_strips.remainder);
    return {in_strips.quotient % 2 == 0 ? in_rows.quotient : clusters_.m - 1 - in_rows.quotient,
            in_strips.quotient * width_.value() + in_rows.remainder};
  }

  TileGrid tiles_;
  TileGrid clusters_;  // of clusters' tiles
  Tile cluster_;       // its extents
  bool along_m_;
  std::uint32_t columns_;  // of whole strips
  Divisor rank_;
  Divisor line_;
  Divisor width_;  // of a strip
  Divisor strip_;  // its tiles
};

/// The tiles of one CTA of a cluster, by the number of the cluster's.
class ClusterTiles {
 public:
  /// The tiles of the CTA with this rank in its cluster, by `walk`.
  constexpr ClusterTiles(const TileWalk& walk, std::uint32_t rank)
      : walk_{walk}, place_{walk.place(rank)} {}

  /// Its tile of the cluster's that come at `index`. It may lie beyond the matrix: see `covers`.
  constexpr Tile at(std::uint32_t index) const { return walk_.at(index, place_); }
  constexpr std::uint32_t count() const { return walk_.count(); }  // of the clusters' tiles

 private:
  TileWalk walk_;
  Tile place_;
};

/// The tiles of one CTA. Its cluster takes every `step`-th of the clusters' tiles from `first` on,
/// in their order, and the CTA its own tile of each. A cluster beyond the last tile has none. Use
/// it in a range-based for.
class StaticTileScheduler {
 public:
  /// What a range-based loop steps through.
  class Iterator {
   public:
    /// At the first tile of `scheduler`, which must outlive it.
    constexpr explicit Iterator(const StaticTileScheduler& scheduler)
        : scheduler_{scheduler}, index_{scheduler.first_} {}
    constexpr Tile operator*() const { return scheduler_.tiles_.at(index_); }  // the CTA's own tile
    /// Goes on to the cluster's next tiles, `step` further.
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

  /// Of the CTA `rank` of a cluster that takes every `step`-th of the clusters' tiles from `first`
  /// on: its own index and the count of clusters, if a grid shares them.
  constexpr StaticTileScheduler(const TileWalk& walk,
                                std::uint32_t first,
                                std::uint32_t step,
                                std::uint32_t rank = 0)
      : tiles_{walk, rank}, first_{first}, step_{step} {}
  /// The tiles of the CTA that `machine` is a warp of.
  template <Machine M>
  constexpr StaticTileScheduler(const TileWalk& walk, const M& machine)
      : StaticTileScheduler{
            walk, machine.cluster_index(), machine.cluster_count(), machine.cta_rank()} {}

  constexpr Iterator begin() const { return Iterator{*this}; }    // at the cluster's first
  constexpr std::uint32_t end() const { return tiles_.count(); }  // where iterators stop

 private:
  ClusterTiles tiles_;
  std::uint32_t first_;
  std::uint32_t step_;
};

}  // namespace warptwin
