/// Scenario: gemm_swiglu_clc of f16 operands; D is f16.
///
/// Barriers as in gemm_swiglu_clc.
///
/// Expected: clean, as gemm_swiglu_clc is.

#pragma once

#include "scenarios/gemm_swiglu_clc.hpp"

namespace warptwin::scenarios {

struct GemmSwigluClcF16 : GemmSwigluPersistentOf<CtaGroup::kOne, GemmPartsOf<f16, f16>> {
  static constexpr ScenarioInfo kInfo{"gemm_swiglu_clc_f16",
                                      ScenarioKind::kClean,
                                      "gated activation by CTAs that claim tiles, f16 in, f16 out"};
};

}  // namespace warptwin::scenarios
