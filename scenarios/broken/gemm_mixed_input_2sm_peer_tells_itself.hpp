/// Broken: the transform warps of the peer arrive on their own operand.full, not on the leader's,
/// whose MMA warp alone waits.
///
/// Expected: DEADLOCK. Twin: gemm_mixed_input_2sm.

#pragma once

#include "scenarios/gemm_mixed_input_2sm.hpp"

namespace warptwin::scenarios {

struct MixedInputPeerTellsItself : MixedInputSteps {
  static constexpr void hand_over(Machine auto& machine, auto&& operand) {
    const Mbarrier full = operand.mbar();
    std::move(operand).release_without_signal();
    machine.tcgen05_fence_before_thread_sync();
    machine.mbarrier_arrive(full);  // the fault: in the own CTA
  }
};

struct GemmMixedInput2smPeerTellsItself : GemmMixedInput2sm {
  static constexpr ScenarioInfo kInfo{"gemm_mixed_input_2sm_peer_tells_itself",
                                      ScenarioKind::kBroken,
                                      "an operand of the peer that the leader is not told of",
                                      "DEADLOCK",
                                      "gemm_mixed_input_2sm"};
  template <Machine M, class Extents>
  using Kernel =
      GemmMixedInputKernel<M, Extents, MixedInputParts<f8e4m3>, MixedInputPeerTellsItself>;
};

}  // namespace warptwin::scenarios
