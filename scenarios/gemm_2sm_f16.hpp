/// Scenario: gemm_2sm of f16 operands; D is f16.
///
/// Barriers as in gemm_2sm.
///
/// Expected: clean, as gemm_2sm is.

#pragma once

#include "scenarios/gemm_2sm.hpp"

namespace warptwin::scenarios {

struct Gemm2smF16 : GemmClusterOf<CtaGroup::kTwo, GemmPartsOf<f16, f16>> {
  static constexpr ScenarioInfo kInfo{
      "gemm_2sm_f16", ScenarioKind::kClean, "GEMM by pairs of CTAs, f16 in, f16 out"};
};

}  // namespace warptwin::scenarios
