/// Scenario: gemm_swiglu_persistent of e4m3 whose result is quantised again, as in
/// gemm_swiglu_quantised.
///
/// Barriers as in gemm_swiglu_persistent.
///
/// Expected: clean, as gemm_swiglu_persistent is.

#pragma once

#include "scenarios/gemm_swiglu_persistent.hpp"
#include "scenarios/gemm_swiglu_quantised.hpp"

namespace warptwin::scenarios {

struct GemmSwigluQuantisedPersistent
    : GemmSwigluPersistentOf<CtaGroup::kTwo, GemmSwigluQuantisedParts> {
  static constexpr ScenarioInfo kInfo{
      "gemm_swiglu_quantised_persistent",
      ScenarioKind::kClean,
      "gated activation by pairs that claim tiles, e4m3 with factors out"};
};

}  // namespace warptwin::scenarios
