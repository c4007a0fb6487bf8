/// Scenario: gemm_swiglu_persistent of e4m3 operands; D is bf16.
///
/// Barriers as in gemm_swiglu_persistent.
///
/// Expected: clean, as gemm_swiglu_persistent is.

#pragma once

#include "scenarios/gemm_swiglu_persistent.hpp"

namespace warptwin::scenarios {

struct GemmSwigluPersistentE4m3
    : GemmSwigluPersistentOf<CtaGroup::kTwo, GemmPartsOf<f8e4m3, bf16>> {
  static constexpr ScenarioInfo kInfo{"gemm_swiglu_persistent_e4m3",
                                      ScenarioKind::kClean,
                                      "gated activation by clusters that claim tiles, e4m3 in"};
};

}  // namespace warptwin::scenarios
