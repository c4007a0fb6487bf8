/// Broken: both CTAs of a pair load the rows of G.
///
/// The second half of an accumulator's columns is a gate's again, and every barrier is right.
///
/// Expected: RESULT_WRONG. Twin: gemm_swiglu_persistent.

#pragma once

#include "scenarios/gemm_swiglu_persistent.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct PeerLoadsGateKernel : GemmSwiglu2smKernel<M, Extents> {
  using Base = GemmSwiglu2smKernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;
  using Input = typename Base::Input;

  template <class F>
  static constexpr void load_tiles(
      M& machine, const Problem& problem, const Storage& smem, const auto& tiles, F&& begins) {
    auto input = Input{machine, smem.input}.producer();
    for (const Tile tile : tiles) {
      begins();
      for (std::uint32_t k = 0; k < problem.k_tiles; ++k) {
        auto stage = input.acquire_stage();
        stage.load(problem.a, {tile.m, k}, stage.payload().a_tile());
        stage.load(problem.b, {tile.n, k}, stage.payload().b_tile());  // the fault: u in the peer
        std::move(stage).release();
      }
    }
    input.drain();
  }
};

struct GemmSwigluPersistentPeerLoadsGate : GemmSwigluPersistent {
  static constexpr ScenarioInfo kInfo{"gemm_swiglu_persistent_peer_loads_gate",
                                      ScenarioKind::kBroken,
                                      "the peer of a pair brings the gate's rows of B",
                                      "RESULT_WRONG",
                                      "gemm_swiglu_persistent"};
  template <Machine M, class Extents>
  using Kernel = ClaimingKernelWithSource<M, Extents, PeerLoadsGateKernel<M, Extents>>;
};

}  // namespace warptwin::scenarios
