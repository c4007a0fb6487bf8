/// Broken: each CTA of a pair loads the scale factors of the rows of B that it holds itself.
///
/// An accumulator has the columns of both halves in each CTA: the factors of the other half's are
/// those of other rows.
///
/// Expected: RESULT_WRONG. Twin: gemm_block_scaled_persistent.

#pragma once

#include "scenarios/broken/gemm_block_scaled_persistent_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct FactorsOfOwnHalfKernel : GemmBlockScaledKernel<M, Extents> {
  using Base = GemmBlockScaledKernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;
  using Input = typename Base::Input;

  template <class F>
  static constexpr void load_tiles(
      M& machine, const Problem& problem, const Storage& smem, const auto& tiles, F&& begins) {
    auto input = Input{machine, smem.input}.producer();
    const ScaledTileShape shape = problem.extents.shape();
    const std::uint32_t part = smem.input.cluster.place_in_group(machine.cta_rank());
    for (const Tile tile : tiles) {
      begins();
      for (std::uint32_t k = 0; k < problem.k_tiles; ++k) {
        auto stage = input.acquire_stage();
        const auto to = stage.payload();
        stage.load(problem.a, {tile.m, k}, to.a_tile());
        stage.load(problem.b, {2 * tile.n + part, k}, to.b_tile());
        stage.load(problem.sfa, {tile.m * problem.k_tiles + k, 0}, to.sfa_tile());
        for (std::uint32_t row = 0; row < shape.b_blocks(); ++row) {
          stage.load(problem.sfb,
                     // The fault: `part`, not `row`, in every block.
                     {(shape.first_block(tile.n) + part) * problem.k_tiles + k, 0},
                     block_row(to.sfb_tile(), row, shape.k_blocks()));
        }
        std::move(stage).release();
      }
    }
    input.drain();
  }
};

struct GemmBlockScaledPersistentFactorsOfOwnHalf : GemmBlockScaledPersistentTwin {
  static constexpr ScenarioInfo kInfo{"gemm_block_scaled_persistent_factors_of_own_half",
                                      ScenarioKind::kBroken,
                                      "a CTA has the scale factors of its own half of B alone",
                                      "RESULT_WRONG",
                                      "gemm_block_scaled_persistent"};
  template <Machine M, class Extents>
  using Kernel = ClaimingKernel<M, Extents, FactorsOfOwnHalfKernel<M, Extents>>;
};

}  // namespace warptwin::scenarios
