/// Broken: both CTAs of a pair load the first half of the pair's rows of B.
///
/// Every byte is counted, and every barrier is right: the second half of D's columns is the first.
///
/// Expected: RESULT_WRONG. Twin: gemm_2sm.

#pragma once

#include "scenarios/broken/gemm_2sm_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct Gemm2smPeerLoadsLeadersBKernel : Gemm2smKernel<M, Extents> {
  using Base = Gemm2smKernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;
  using Input = typename Base::Input;

  static constexpr void load(M& machine, const Problem& problem, const Storage& smem) {
    auto input = Input{machine, smem.input}.producer();
    for (const Tile tile : problem.tiles(machine)) {
      for (std::uint32_t k = 0; k < problem.k_tiles; ++k) {
        auto stage = input.acquire_stage();
        stage.load(problem.a, {tile.m, k}, stage.payload().a_tile());
        // The fault: the CTA's place in the pair is to be added.
        stage.load(problem.b, {2 * tile.n, k}, stage.payload().b_tile());
        std::move(stage).release();
      }
    }
    input.drain();
  }
};

struct Gemm2smPeerLoadsLeadersB : Gemm2smTwin {
  static constexpr ScenarioInfo kInfo{"gemm_2sm_peer_loads_leaders_b",
                                      ScenarioKind::kBroken,
                                      "both CTAs of a pair load the leader's half of B",
                                      "RESULT_WRONG",
                                      "gemm_2sm"};
  template <Machine M, class Extents>
  using Kernel = Gemm2smPeerLoadsLeadersBKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
