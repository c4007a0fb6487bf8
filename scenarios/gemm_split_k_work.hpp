/// How the tiles of a product are cut along K, which words say whose turn it is, and what a CTA of
/// gemm_split_k has in shared memory.

#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "common/kernel/parameter_table.hpp"
#include "common/kernel/tile_scheduler.hpp"
#include "common/machine/machine.hpp"
#include "common/machine/types.hpp"
#include "common/sync/cluster_shape.hpp"

#include "scenarios/gemm_epilogue_source.hpp"

namespace warptwin::scenarios {

/// What a word of global memory holds once a split's sum lies in the workspace.
struct SplitWord {
  GlobalAddress at;
  std::uint32_t value;
};

/// Words of tiles, 0 at first: one a tile and split; or one a tile, a lock that is handed on.
struct SplitWords {
  GlobalAddress first;
  std::uint32_t a_split;  // words between those of two splits: all tiles, or none
};

/// One split of one tile.
struct SplitWork {
  Tile tile;
  bool first, last;              // of its tile's splits
  std::uint32_t begin_k, end_k;  // in tiles of K
  SplitWord before, summed;      // of the split before it, and of this one
};

/// The tiles of D that CTAs compute, those of whole clusters: each has a part of the workspace and
/// a word for each split, whether it has rows of D or not. Host code.
template <class Extents>
TileGrid split_grid(const ParameterSet& p, const Extents& e) {
  const ClusterShape cluster = e.cluster();
  const std::uint32_t rows = e.tile_m / cluster.group_ctas();
  const auto grid = TileGrid::covering(p.u32("m"), p.u32("n"), rows, e.tile_n);
  return {grid.in_clusters(cluster).m * cluster.m, grid.n};
}

/// What a product has whose tiles are sums of several CTAs, whoever adds what.
template <Machine M, class Extents>
struct SummedProblem {
  typename M::TensorMap a, b, d, workspace;  // boxes as gemm's; (tile_m, box) of D and of f32
  [[no_unique_address]] Extents extents;
  TileGrid grid;  // of CTAs' tiles, whose words stand column by column

  /// Host code.
  void set_maps(const ParameterSet& p,
                const Extents& e,
                std::span<const typename M::TensorMap> maps) {
    a = maps[0];
    b = maps[1];
    d = maps[2];
    workspace = maps[3];
    extents = e;
    grid = split_grid(p, e);
  }
};

template <Machine M, class Extents>
struct GemmSplitKProblem : SummedProblem<M, Extents> {
  using Base = SummedProblem<M, Extents>;
  using Base::grid;
  TileWalk tile_walk;  // the splits of a tile lie side by side along N: all of split 0 comes first
  std::uint32_t k_tiles;
  std::uint32_t splits;  // at most k_tiles
  SplitWords words;

  /// Host code.
  void set(const ParameterSet& p,
           const Extents& e,
           std::span<const typename M::TensorMap> maps,
           std::span<const GlobalAddress> tensors) {
    Base::set_maps(p, e, maps);
    k_tiles = ceil_div(p.u32("k"), e.tile_k);
    splits = std::min(p.u32("splits"), k_tiles);
    tile_walk = TileWalk{{grid.m, grid.n * splits}, e.cluster()};
    words = {tensors[4], p.u32("lock") != 0 ? 0 : grid.count()};
  }
  constexpr StaticTileScheduler tiles(const M& machine) const { return {tile_walk, machine}; }
  constexpr SplitWork work(Tile at) const {
    const std::uint32_t split = at.n / grid.n;
    const Tile tile{at.m, at.n % grid.n};
    const SplitWord before = split == 0 ? SplitWord{} : flag(split - 1, tile);
    return {tile,
            split == 0,
            split + 1 == splits,
            k_of(split),
            k_of(split + 1),
            before,
            flag(split, tile)};
  }
  /// The first tile of K of a split: shares differ by one at most.
  constexpr std::uint32_t k_of(std::uint32_t split) const {
    return static_cast<std::uint32_t>(std::uint64_t{k_tiles} * split / splits);
  }
  constexpr SplitWord flag(std::uint32_t split, Tile tile) const {
    const std::uint32_t word = split * words.a_split + tile.n * grid.m + tile.m;
    return {words.first + std::uint64_t{4} * word, split + 1};
  }
};

/// The buffers are all of one shape, so that a box of the accumulator is a box of each.
template <class Extents, class Parts = GemmParts>
struct GemmSplitKStorage {
  using Base = GemmStorage<Extents, Parts>;

  constexpr GemmSplitKStorage(auto& layout, const Extents& e)
      : GemmSplitKStorage{layout, e, e.cluster(), e.tile_m / e.cluster().group_ctas()} {}
  /// Of `rows` of a tile of D in each CTA.
  constexpr GemmSplitKStorage(auto& layout,
                              const Extents& e,
                              const ClusterShape& cluster,
                              std::uint32_t rows)
      : input{layout,
              "input",
              kGemmEpilogueLoadRoles,
              cluster,
              {rows, e.tile_n / cluster.group_ctas(), e.tile_k},
              e.stages},
        out{layout, "out", kGemmEpilogueLoadRoles, rows, box_columns<f32>(e.tile_n)},
        partial{layout, "partial", kGemmEpilogueLoadRoles, rows, box_columns<f32>(e.tile_n)},
        accum{layout, "accum", kGemmEpilogueLoadRoles, cluster, {e.accum_stages, e.tile_n}},
        tmem{layout, "tmem", kGemmEpilogueLoadRoles, cluster},
        source{layout,
               "source",
               kGemmEpilogueLoadRoles,
               e.source_stages,
               partial.first.bytes(),
               kTileAlignment} {}
  constexpr void init(Machine auto& machine) const {
    input.init(machine);
    accum.init(machine);
    tmem.init(machine);
    source.init(machine);
  }
  constexpr SharedTile<f32> source_tile(std::uint32_t stage) const {
    SharedTile<f32> tile = partial.first;
    tile.base = source.tile(stage);
    return tile;
  }

  typename Base::Input input;
  OutputTileStorage<typename Parts::D> out;
  OutputTileStorage<f32> partial;
  typename Base::Accum accum;
  TmemDeallocStorage<> tmem;
  EpiLoadPipelineStorage source;
};

}  // namespace warptwin::scenarios
