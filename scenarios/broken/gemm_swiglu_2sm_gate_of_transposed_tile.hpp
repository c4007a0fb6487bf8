/// Broken: of a tile the load warps bring the rows of G and U that belong to its row, not to its
/// column.
///
/// Tiles on the diagonal are right, and every byte that is waited for comes.
///
/// Expected: RESULT_WRONG. Twin: gemm_swiglu_2sm.

#pragma once

#include "scenarios/gemm_swiglu_2sm.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct GemmSwiglu2smGateOfTransposedTileKernel : GemmSwiglu2smKernel<M, Extents> {
  using Base = GemmSwiglu2smKernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;
  using Input = typename Base::Input;

  static constexpr void load(M& machine, const Problem& problem, const Storage& smem) {
    auto input = Input{machine, smem.input}.producer();
    const bool leads = smem.input.cluster.is_leader(machine.cta_rank());
    for (const Tile tile : problem.tiles(machine)) {
      for (std::uint32_t k = 0; k < problem.k_tiles; ++k) {
        auto stage = input.acquire_stage();
        stage.load(problem.a, {tile.m, k}, stage.payload().a_tile());
        // The fault: tile.n is meant.
        stage.load(leads ? problem.b : problem.u, {tile.m, k}, stage.payload().b_tile());
        std::move(stage).release();
      }
    }
    input.drain();
  }
};

struct GemmSwiglu2smGateOfTransposedTile : GemmSwiglu2sm {
  static constexpr ScenarioInfo kInfo{"gemm_swiglu_2sm_gate_of_transposed_tile",
                                      ScenarioKind::kBroken,
                                      "the gate's rows are taken from where the tile's rows are",
                                      "RESULT_WRONG",
                                      "gemm_swiglu_2sm"};
  template <Machine M, class Extents>
  using Kernel = GemmSwiglu2smGateOfTransposedTileKernel<M, Extents>;

  static std::span<const Parameter> parameters() {
    static const auto kParameters = extended(GemmSwiglu2sm::parameters(),
                                             {{"m", "rows of A and D", 256, 1, 1 << 20},
                                              {"n", "columns of D", 128, 1, 1 << 20},
                                              {"k", "columns of A, G and U", 128, 1, 1 << 20}});
    return kParameters;
  }
};

}  // namespace warptwin::scenarios
