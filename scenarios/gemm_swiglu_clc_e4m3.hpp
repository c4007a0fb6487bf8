/// Scenario: gemm_swiglu_clc of e4m3 operands; D is bf16.
///
/// Barriers as in gemm_swiglu_clc.
///
/// Expected: clean, as gemm_swiglu_clc is.

#pragma once

#include "scenarios/gemm_swiglu_clc.hpp"

namespace warptwin::scenarios {

struct GemmSwigluClcE4m3 : GemmSwigluPersistentOf<CtaGroup::kOne, GemmPartsOf<f8e4m3, bf16>> {
  static constexpr ScenarioInfo kInfo{"gemm_swiglu_clc_e4m3",
                                      ScenarioKind::kClean,
                                      "gated activation by clusters that claim tiles, an MMA in "
                                      "each CTA, e4m3 in"};
};

}  // namespace warptwin::scenarios
