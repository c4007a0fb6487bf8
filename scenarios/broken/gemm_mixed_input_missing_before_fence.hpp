/// Broken: the transform warps arrive on operand.full without a tcgen05 fence before it.
///
/// wait::st says that the operand is there for this warp; the fence that it is before the MMA of
/// another.
///
/// Expected: TMEM_FENCE_MISSING. Twin: gemm_mixed_input.

#pragma once

#include "scenarios/broken/gemm_mixed_input_twin.hpp"

namespace warptwin::scenarios {

struct MixedInputWithoutFence : MixedInputSteps {
  static constexpr void hand_over(Machine auto& machine, auto&& operand) {
    const Mbarrier full = operand.mbar();
    std::move(operand).release_without_signal();
    machine.mbarrier_arrive(full);  // the fault: no tcgen05_fence_before_thread_sync before it
  }
};

struct GemmMixedInputMissingBeforeFence : GemmMixedInputTwin<MixedInputWithoutFence> {
  static constexpr ScenarioInfo kInfo{"gemm_mixed_input_missing_before_fence",
                                      ScenarioKind::kBroken,
                                      "no tcgen05 fence before the arrival that hands A over",
                                      "TMEM_FENCE_MISSING",
                                      "gemm_mixed_input"};
};

}  // namespace warptwin::scenarios
