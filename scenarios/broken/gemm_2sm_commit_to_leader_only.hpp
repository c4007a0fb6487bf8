/// Broken: the leader's MMA warp frees its own input stages, and not the peer's.
///
/// The peer's load warp stops when its ring is full, and the leader waits for the peer's tiles.
///
/// Expected: DEADLOCK. Twin: gemm_2sm.

#pragma once

#include "scenarios/broken/gemm_2sm_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct Gemm2smCommitToLeaderOnlyKernel : Gemm2smKernel<M, Extents> {
  using Base = Gemm2smKernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;
  using Input = typename Base::Input;
  using Accum = typename Base::Accum;

  static constexpr void mma(M& machine, const Problem& problem, const Storage& smem) {
    auto warp = MmaWarp<M, Accum>::create(machine, smem.accum, smem.tmem);
    if (warp.is_leader()) {
      auto input = Input{machine, smem.input}.consumer();
      for ([[maybe_unused]] const Tile tile : problem.tiles(machine)) {
        auto accum = warp.acquire_mma_linear();
        for (std::uint32_t k = 0; k < problem.k_tiles; ++k) {
          auto stage = input.acquire_stage();
          accum.multiply(stage.payload(), k == 0 ? Accumulate::kNo : Accumulate::kYes);
          machine.tcgen05_commit(CtaGroup::kTwo, stage.mbar());  // the fault: not multicast
          std::move(stage).release_without_signal();
        }
        std::move(accum).release();
      }
    }
    std::move(warp).release();
  }
};

struct Gemm2smCommitToLeaderOnly : Gemm2smTwin {
  static constexpr ScenarioInfo kInfo{"gemm_2sm_commit_to_leader_only",
                                      ScenarioKind::kBroken,
                                      "the commit that frees a stage is not multicast to the peer",
                                      "DEADLOCK",
                                      "gemm_2sm"};
  template <Machine M, class Extents>
  using Kernel = Gemm2smCommitToLeaderOnlyKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
