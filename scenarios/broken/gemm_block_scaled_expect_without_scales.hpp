/// Broken: the load warp announces the bytes of A and B, and copies their scale factors, too.
///
/// The full barrier ends with bytes too many: it never completes.
///
/// Expected: MBAR_TX_MISMATCH. Twin: gemm_block_scaled.

#pragma once

#include "scenarios/broken/gemm_block_scaled_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct GemmBlockScaledExpectWithoutScalesKernel : GemmBlockScaledKernel<M, Extents> {
  using Base = GemmBlockScaledKernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;
  using Input = typename Base::Input;
  using Accum = typename Base::Accum;

  static constexpr void load(M& machine, const Problem& problem, const Storage& smem) {
    Input input{machine, smem.input};
    const SourceSite site = SourceSite::current();
    const ClusterShape& cluster = smem.input.cluster;
    for (const Tile tile : problem.tiles(machine)) {
      for (std::uint32_t k = 0; k < problem.k_tiles; ++k) {
        input.wait_consumer();
        const std::uint32_t stage = input.producer_stage();
        const Mbarrier full = input.producer_mbar(stage);
        const auto tiles = smem.input.at(stage, 0);
        const std::uint32_t factors_a = tile.m * problem.k_tiles + k;
        const std::uint32_t block = problem.extents.shape().first_block(tile.n);
        const std::uint32_t factors_b = block * problem.k_tiles + k;
        // The fault: the tiles of the scale factors are not counted.
        arm(machine, full, smem.input.payload.operands.copy_bytes(), site);
        load_slice(machine, problem.a, {tile.m, k}, tiles.a_tile(), full, cluster, site);
        load_slice(machine, problem.b, {tile.n, k}, tiles.b_tile(), full, cluster, site);
        load_slice(machine, problem.sfa, {factors_a, 0}, tiles.sfa_tile(), full, cluster, site);
        load_slice(machine, problem.sfb, {factors_b, 0}, tiles.sfb_tile(), full, cluster, site);
        input.producer_step();
      }
    }
  }
};

struct GemmBlockScaledExpectWithoutScales : GemmBlockScaledTwin {
  static constexpr ScenarioInfo kInfo{"gemm_block_scaled_expect_without_scales",
                                      ScenarioKind::kBroken,
                                      "the bytes of the scale factors are not announced",
                                      "MBAR_TX_MISMATCH",
                                      "gemm_block_scaled"};
  template <Machine M, class Extents>
  using Kernel = GemmBlockScaledExpectWithoutScalesKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
