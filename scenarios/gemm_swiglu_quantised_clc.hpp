/// Scenario: gemm_swiglu_clc of e4m3 whose result is quantised again, as in gemm_swiglu_quantised.
///
/// Barriers as in gemm_swiglu_clc.
///
/// Expected: clean, as gemm_swiglu_clc is.

#pragma once

#include "scenarios/gemm_swiglu_persistent.hpp"
#include "scenarios/gemm_swiglu_quantised.hpp"

namespace warptwin::scenarios {

struct GemmSwigluQuantisedClc : GemmSwigluPersistentOf<CtaGroup::kOne, GemmSwigluQuantisedParts> {
  static constexpr ScenarioInfo kInfo{
      "gemm_swiglu_quantised_clc",
      ScenarioKind::kClean,
      "gated activation by clusters that claim tiles, e4m3 with factors out"};
};

}  // namespace warptwin::scenarios
