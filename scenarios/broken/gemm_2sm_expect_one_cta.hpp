/// Broken: the leader announces the bytes of its own copies, and the peer's are counted too.
///
/// The full barrier never completes, or completes when half of the tiles are there.
///
/// Expected: MBAR_TX_MISMATCH. Twin: gemm_2sm.

#pragma once

#include "scenarios/broken/gemm_2sm_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct Gemm2smExpectOneCtaKernel : Gemm2smKernel<M, Extents> {
  using Base = Gemm2smKernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;
  using Input = typename Base::Input;

  static constexpr void load(M& machine, const Problem& problem, const Storage& smem) {
    Input input{machine, smem.input};
    const ClusterShape cluster = smem.input.cluster;
    const std::uint32_t half = cluster.place_in_group(machine.cta_rank());
    for (const Tile tile : problem.tiles(machine)) {
      for (std::uint32_t k = 0; k < problem.k_tiles; ++k) {
        input.wait_consumer();
        const std::uint32_t stage = input.producer_stage();
        const Mbarrier full = input.producer_mbar(stage);
        const auto tiles = smem.input.at(stage, 0);
        if (cluster.is_leader(machine.cta_rank())) {
          // The fault: the peer's bytes are not counted.
          arm(machine, full, smem.input.payload.copy_bytes(), SourceSite::current());
        }
        load_slice(
            machine, problem.a, {tile.m, k}, tiles.a_tile(), full, cluster, SourceSite::current());
        load_slice(machine,
                   problem.b,
                   {2 * tile.n + half, k},
                   tiles.b_tile(),
                   full,
                   cluster,
                   SourceSite::current());
        input.producer_step();
      }
    }
    input.drain_producer();
  }
};

struct Gemm2smExpectOneCta : Gemm2smTwin {
  static constexpr ScenarioInfo kInfo{"gemm_2sm_expect_one_cta",
                                      ScenarioKind::kBroken,
                                      "the bytes of one CTA of the pair are announced",
                                      "MBAR_TX_MISMATCH",
                                      "gemm_2sm"};
  template <Machine M, class Extents>
  using Kernel = Gemm2smExpectOneCtaKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
