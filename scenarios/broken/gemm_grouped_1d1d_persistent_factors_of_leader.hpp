/// Broken: the peer loads the factors of the leader's rows of A.
///
/// Right for single CTAs. With pairs the bytes are as many, and each barrier is right.
///
/// Expected: RESULT_WRONG. Twin: gemm_grouped_1d1d_persistent.

#pragma once

#include "scenarios/gemm_grouped_1d1d_persistent.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct Grouped1d1dFactorsOfLeaderKernel : GemmGrouped1d1dPersistentKernel<M, Extents> {
  using Base = GemmGrouped1d1dPersistentKernel<M, Extents>;
  using Storage = typename Base::Storage;
  using Problem = typename Base::Problem;

  static constexpr void load(M& machine, const Problem& problem, const Storage& smem) {
    auto input = typename Base::Input{machine, smem.input}.producer();
    const ScaledTileShape shape = problem.extents.shape();
    const std::uint32_t part = smem.input.cluster.place_in_group(machine.cta_rank());
    for (auto at = Base::template tiles<Role::kLoad>(machine, problem, smem); at.exists();
         at.next()) {
      const auto& [group, tile] = *at;
      for (std::uint32_t k = 0; k < problem.k_tiles; ++k) {
        auto stage = input.acquire_stage();
        const auto to = stage.payload();
        stage.load(problem.a[group], {tile.m * 2 + part, k}, to.a_tile());
        stage.load(problem.b[group], {tile.n * 2 + part, k}, to.b_tile());
        const std::uint32_t first = tile.m * 2 * problem.k_tiles;  // the fault: without its part
        stage.load(problem.sfa[group], {first + k, 0}, to.sfa_tile());
        for (std::uint32_t row = 0; row < shape.b_blocks(); ++row) {
          stage.load(problem.sfb[group],
                     {(shape.first_block(tile.n) + row) * problem.k_tiles + k, 0},
                     block_row(to.sfb_tile(), row, shape.k_blocks()));
        }
        std::move(stage).release();
      }
    }
    input.drain();
  }
};

struct GemmGrouped1d1dPersistentFactorsOfLeader : GemmGrouped1d1dPersistent {
  static constexpr ScenarioInfo kInfo{"gemm_grouped_1d1d_persistent_factors_of_leader",
                                      ScenarioKind::kBroken,
                                      "the peer's factors of A are those of the leader's rows",
                                      "RESULT_WRONG",
                                      "gemm_grouped_1d1d_persistent"};
  template <Machine M, class Extents>
  using Kernel = Grouped1d1dFactorsOfLeaderKernel<M, Extents>;

  static std::span<const Parameter> parameters() {
    static const auto kParameters =
        extended(GemmGrouped1d1dPersistent::parameters(),
                 {{"work", "which groups have their rows, one bit each", 5, 1, 15},
                  {"n", "rows of each B, columns of each D", 64, 1, 1 << 20}});
    return kParameters;
  }
};

}  // namespace warptwin::scenarios
