/// Broken: the transform warps hand an operand over before tcgen05.wait::st.
///
/// The MMA multiplies what of the operand before is still there.
///
/// Expected: TMEM_ST_NO_WAIT. Twin: gemm_mixed_input.

#pragma once

#include "scenarios/broken/gemm_mixed_input_twin.hpp"

namespace warptwin::scenarios {

struct MixedInputWithoutWaitSt : MixedInputSteps {
  static constexpr void settle(Machine auto&) {}  // the fault
};

struct GemmMixedInputMissingWaitSt : GemmMixedInputTwin<MixedInputWithoutWaitSt> {
  static constexpr ScenarioInfo kInfo{"gemm_mixed_input_missing_wait_st",
                                      ScenarioKind::kBroken,
                                      "an operand is handed over before tcgen05.wait::st",
                                      "TMEM_ST_NO_WAIT",
                                      "gemm_mixed_input"};
};

}  // namespace warptwin::scenarios
