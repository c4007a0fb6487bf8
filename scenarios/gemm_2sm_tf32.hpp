/// Scenario: gemm_2sm of tf32 operands; D is f32.
///
/// Barriers as in gemm_2sm.
///
/// Expected: clean, as gemm_2sm is.

#pragma once

#include "scenarios/gemm_2sm.hpp"

namespace warptwin::scenarios {

struct Gemm2smTf32 : GemmClusterOf<CtaGroup::kTwo, GemmPartsOf<tf32, f32>> {
  static constexpr ScenarioInfo kInfo{
      "gemm_2sm_tf32", ScenarioKind::kClean, "GEMM by pairs of CTAs, tf32 in, f32 out"};
};

}  // namespace warptwin::scenarios
