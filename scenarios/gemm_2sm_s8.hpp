/// Scenario: gemm_2sm of s8 operands; sums are s32, D is f32.
///
/// Barriers as in gemm_2sm.
///
/// Expected: clean, as gemm_2sm is.

#pragma once

#include "scenarios/gemm_2sm.hpp"

namespace warptwin::scenarios {

struct Gemm2smS8 : GemmClusterOf<CtaGroup::kTwo, GemmPartsOf<s8, f32>> {
  static constexpr ScenarioInfo kInfo{
      "gemm_2sm_s8", ScenarioKind::kClean, "GEMM by pairs of CTAs, s8 in, f32 out"};
};

}  // namespace warptwin::scenarios
