/// Broken: the load warp announces the bytes of A and B, and copies the factors of A as well.
///
/// Expected: MBAR_TX_MISMATCH. Twin: gemm_blockwise_fp8.

#pragma once

#include "scenarios/broken/gemm_blockwise_fp8_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct GemmBlockwiseFp8ExpectWithoutScalesKernel : GemmBlockwiseFp8Kernel<M, Extents> {
  using Base = GemmBlockwiseFp8Kernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;
  using Input = typename Base::Input;
  using Accum = typename Base::Accum;

  static constexpr void load(M& machine, const Problem& problem, const Storage& smem) {
    auto input = Input{machine, smem.input};
    for (const Tile tile : problem.tiles(machine)) {
      for (std::uint32_t k = 0; k < problem.k_tiles; ++k) {
        input.wait_consumer();
        const std::uint32_t s = input.producer_stage();
        const auto tiles = smem.input.at(s, 0);
        const Mbarrier full = input.producer_mbar(s);
        // The fault: all copies are meant.
        arm(machine, full, smem.input.payload.operands.copy_bytes(), SourceSite::current());
        const ClusterShape& cluster = smem.input.cluster;
        const SourceSite site = SourceSite::current();
        load_slice(machine, problem.a, {tile.m, k}, tiles.a_tile(), full, cluster, site);
        load_slice(machine, problem.b, {tile.n, k}, tiles.b_tile(), full, cluster, site);
        load_slice(
            machine, problem.a_scales, {k, tile.m}, tiles.a_scales_tile(), full, cluster, site);
        input.producer_step();
      }
    }
    input.drain_producer();
  }
};

struct GemmBlockwiseFp8ExpectWithoutScales : GemmBlockwiseFp8Twin {
  static constexpr ScenarioInfo kInfo{"gemm_blockwise_fp8_expect_without_scales",
                                      ScenarioKind::kBroken,
                                      "the stage is armed without the bytes of the factors",
                                      "MBAR_TX_MISMATCH",
                                      "gemm_blockwise_fp8"};
  template <Machine M, class Extents>
  using Kernel = GemmBlockwiseFp8ExpectWithoutScalesKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
