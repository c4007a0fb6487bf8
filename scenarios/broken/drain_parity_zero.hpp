/// Broken: the producer drains by parity 0, whatever lap it is in.
///
/// After an odd number of laps it passes at once, after an even one it waits for a lap that never
/// comes.
///
/// Expected: MBAR_WAIT_PHASE_ALIASED. Twin: multicast_ring.

#pragma once

#include "scenarios/multicast_ring.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct DrainParityZeroKernel : MulticastRingKernel<M, Extents> {
  using Base = MulticastRingKernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;

  static constexpr void producer(M& machine, const Problem& problem, const Storage& smem) {
    PipelineState state;
    for (std::uint32_t tile = 0; tile < problem.extents.tiles; ++tile, state.step(smem.stages)) {
      Base::fill(machine, problem, smem, state, tile);
    }
    for (std::uint32_t stage = 0; stage < smem.stages; ++stage) {
      // The fault: the parity of the last lap is that of state, not 0.
      machine.mbarrier_wait_parity(smem.barriers.empty[stage], WaitPhase::number(0));
      machine.sync_warp();
    }
  }
};

struct DrainParityZero : MulticastRing {
  static constexpr ScenarioInfo kInfo{"drain_parity_zero",
                                      ScenarioKind::kBroken,
                                      "the drain passes vacuously, and the CTA ends too early",
                                      "MBAR_WAIT_PHASE_ALIASED",
                                      "multicast_ring"};
  template <Machine M, class Extents>
  using Kernel = DrainParityZeroKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
