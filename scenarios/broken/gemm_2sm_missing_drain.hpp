/// Broken: the load warps do not drain.
///
/// The leader's last commits may still be on their way to input.empty of both CTAs when all warps
/// of the cluster have come to the barrier at its end: that one holds threads, not commits.
///
/// Expected: PRODUCER_TAIL_MISSING. Twin: gemm_2sm.

#pragma once

#include "scenarios/broken/gemm_2sm_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct Gemm2smMissingDrainKernel : Gemm2smKernel<M, Extents> {
  using Base = Gemm2smKernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;
  using Input = typename Base::Input;

  static constexpr void load(M& machine, const Problem& problem, const Storage& smem) {
    auto input = Input{machine, smem.input}.producer();
    const std::uint32_t half = smem.input.cluster.place_in_group(machine.cta_rank());
    for (const Tile tile : problem.tiles(machine)) {
      for (std::uint32_t k = 0; k < problem.k_tiles; ++k) {
        auto stage = input.acquire_stage();
        stage.load(problem.a, {tile.m, k}, stage.payload().a_tile());
        stage.load(problem.b, {2 * tile.n + half, k}, stage.payload().b_tile());
        std::move(stage).release();
      }
    }
    // The fault: input.drain() is missing.
  }
};

struct Gemm2smMissingDrain : Gemm2smTwin {
  static constexpr ScenarioInfo kInfo{"gemm_2sm_missing_drain",
                                      ScenarioKind::kBroken,
                                      "the peer ends while the leader still commits to it",
                                      "PRODUCER_TAIL_MISSING",
                                      "gemm_2sm"};
  template <Machine M, class Extents>
  using Kernel = Gemm2smMissingDrainKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
