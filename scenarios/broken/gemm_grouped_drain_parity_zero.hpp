/// Broken: the load warp drains by parity 0, whatever lap it is in.
///
/// After an odd number of uses of a stage it passes while one is outstanding, after an even number
/// it waits for one that never comes.
///
/// Expected: MBAR_WAIT_PHASE_ALIASED. Twin: gemm_grouped.

#pragma once

#include "scenarios/broken/gemm_grouped_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct GemmGroupedDrainParityZeroKernel : GemmGroupedKernel<M, Extents> {
  using Base = GemmGroupedKernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;
  using Input = typename Base::Input;
  using Accum = typename Base::Accum;

  static constexpr void load(M& machine, const Problem& problem, const Storage& smem) {
    auto input = Input{machine, smem.input}.producer();
    for (auto at = Base::template tiles<Role::kLoad>(machine, problem, smem); at.exists();
         at.next()) {
      for (std::uint32_t k = 0; k < problem.k_tiles; ++k) {
        auto stage = input.acquire_stage();
        stage.load(problem.a[at->group], {at->tile.m, k}, stage.payload().a_tile());
        stage.load(problem.b[at->group], {at->tile.n, k}, stage.payload().b_tile());
        std::move(stage).release();
      }
    }
    for (std::uint32_t s = 0; s < smem.input.barriers.stages; ++s) {
      // The fault: the parity of the last lap is that of the ring's state, not 0.
      machine.mbarrier_wait_parity(smem.input.barriers.empty[s], WaitPhase::number(0));
      machine.sync_warp();
    }
  }
};

struct GemmGroupedDrainParityZero : GemmGroupedTwin {
  static constexpr ScenarioInfo kInfo{"gemm_grouped_drain_parity_zero",
                                      ScenarioKind::kBroken,
                                      "the drain waits for parity 0, not for the last lap",
                                      "MBAR_WAIT_PHASE_ALIASED",
                                      "gemm_grouped"};
  template <Machine M, class Extents>
  using Kernel = GemmGroupedDrainParityZeroKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
