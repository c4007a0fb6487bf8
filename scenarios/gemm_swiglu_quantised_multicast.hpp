/// Scenario: gemm_swiglu_multicast of e4m3 whose result is quantised again, as in
/// gemm_swiglu_quantised.
///
/// Barriers as in gemm_swiglu_multicast.
///
/// Expected: clean, as gemm_swiglu_multicast is.

#pragma once

#include "scenarios/gemm_swiglu_2sm.hpp"
#include "scenarios/gemm_swiglu_quantised.hpp"

namespace warptwin::scenarios {

struct GemmSwigluQuantisedMulticast
    : GemmSwigluClusterOf<CtaGroup::kOne, GemmSwigluQuantisedParts> {
  static constexpr ScenarioInfo kInfo{
      "gemm_swiglu_quantised_multicast",
      ScenarioKind::kClean,
      "gated activation by clusters that share copies, e4m3 with factors out"};
};

}  // namespace warptwin::scenarios
