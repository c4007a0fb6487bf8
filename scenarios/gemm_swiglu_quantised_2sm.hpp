/// Scenario: gemm_swiglu_2sm of e4m3 whose result is quantised again, as in gemm_swiglu_quantised.
///
/// Barriers as in gemm_swiglu_2sm.
///
/// Expected: clean, as gemm_swiglu_2sm is.

#pragma once

#include "scenarios/gemm_swiglu_2sm.hpp"
#include "scenarios/gemm_swiglu_quantised.hpp"

namespace warptwin::scenarios {

struct GemmSwigluQuantised2sm : GemmSwigluClusterOf<CtaGroup::kTwo, GemmSwigluQuantisedParts> {
  static constexpr ScenarioInfo kInfo{"gemm_swiglu_quantised_2sm",
                                      ScenarioKind::kClean,
                                      "gated activation by pairs of CTAs, e4m3 with factors out"};
};

}  // namespace warptwin::scenarios
