/// Scenario: gemm_clc of s8 operands; sums are s32, D is f32.
///
/// Barriers as in gemm_clc.
///
/// Expected: clean, as gemm_clc is.

#pragma once

#include "scenarios/gemm_clc.hpp"

namespace warptwin::scenarios {

struct GemmClcS8 : GemmPersistentOf<CtaGroup::kOne, GemmPartsOf<s8, f32>> {
  static constexpr ScenarioInfo kInfo{
      "gemm_clc_s8", ScenarioKind::kClean, "GEMM by clusters that claim tiles, s8 in, f32 out"};
};

}  // namespace warptwin::scenarios
