/// Scenario: gemm_swiglu_2sm of e4m3 operands; D is bf16.
///
/// Barriers as in gemm_swiglu_2sm.
///
/// Expected: clean, as gemm_swiglu_2sm is.

#pragma once

#include "scenarios/gemm_swiglu_2sm.hpp"

namespace warptwin::scenarios {

struct GemmSwiglu2smE4m3 : GemmSwigluClusterOf<CtaGroup::kTwo, GemmPartsOf<f8e4m3, bf16>> {
  static constexpr ScenarioInfo kInfo{"gemm_swiglu_2sm_e4m3",
                                      ScenarioKind::kClean,
                                      "gated activation by pairs of CTAs, e4m3 in, bf16 out"};
};

}  // namespace warptwin::scenarios
