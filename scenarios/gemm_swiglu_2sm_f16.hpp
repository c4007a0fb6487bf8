/// Scenario: gemm_swiglu_2sm of f16 operands; D is f16.
///
/// Barriers as in gemm_swiglu_2sm.
///
/// Expected: clean, as gemm_swiglu_2sm is.

#pragma once

#include "scenarios/gemm_swiglu_2sm.hpp"

namespace warptwin::scenarios {

struct GemmSwiglu2smF16 : GemmSwigluClusterOf<CtaGroup::kTwo, GemmPartsOf<f16, f16>> {
  static constexpr ScenarioInfo kInfo{"gemm_swiglu_2sm_f16",
                                      ScenarioKind::kClean,
                                      "gated activation by pairs of CTAs, f16 in, f16 out"};
};

}  // namespace warptwin::scenarios
