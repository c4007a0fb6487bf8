/// Broken: the load warp begins each tile as it does the first, in stages that it counts from 0.
///
/// Right while the k groups of a tile are a multiple of the ring's stages. Here the second tile
/// begins in another stage: the activations go where weights of the tile before still are.
///
/// Expected: STAGE_USE_AFTER_RELEASE. Twin: gemm_small_clc.

#pragma once

#include "scenarios/gemm_small_clc.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct PrefetchesEveryTileKernel : GemmSmallKernel<M, Extents> {
  using Base = GemmSmallKernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;
  using Input = typename Base::Input;
  using Accum = typename Base::Accum;

  template <class F>
  static constexpr void load_tiles(
      M& machine, const Problem& problem, const Storage& smem, const auto& tiles, F&& begins) {
    auto input = Input{machine, smem.input};
    for (const Tile tile : tiles) {
      begins();
      // The fault: of the first tile alone.
      std::uint32_t group = Base::load_across_grids(machine, input, problem, tile);
      for (; group < problem.k_groups; ++group) {
        const PipelineState stage = input.acquire_for_load();
        Base::load_rows(input, problem, tile, group, stage);
        Base::load_columns(input, problem, tile, group, stage);
        input.release_from_load(stage);
      }
    }
    input.drain_producer();
  }
};

struct GemmSmallClcPrefetchesEveryTile : GemmSmallClc {
  static constexpr ScenarioInfo kInfo{"gemm_small_clc_prefetches_every_tile",
                                      ScenarioKind::kBroken,
                                      "each tile begins with weights, in stages counted from 0",
                                      "STAGE_USE_AFTER_RELEASE",
                                      "gemm_small_clc"};
  template <Machine M, class Extents>
  using Kernel = GemmSmallClcKernel<M, Extents, PrefetchesEveryTileKernel<M, Extents>>;

  static std::span<const Parameter> parameters() {
    static const auto kParameters = extended(
        GemmSmallClc::parameters(),
        {{"m", "rows of A and D: activations", 16, 1, 1 << 20},
         {"n", "rows of B: weights; columns of D", 256, 1, 1 << 20},
         {"k", "columns of A and B", 640, 1, 1 << 20},
         {"stages", "stages of the input ring", 3, 1, 64},
         {"prefetch", "stages whose weights come before the grid before ends", 2, 0, 64},
         {"resident", "clusters the simulated machine has room for; 0: all its SMs", 1, 0, 65536}});
    return kParameters;
  }
};

}  // namespace warptwin::scenarios
