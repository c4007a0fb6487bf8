/// Scenario: gemm_clc of tf32 operands; D is f32.
///
/// Barriers as in gemm_clc.
///
/// Expected: clean, as gemm_clc is.

#pragma once

#include "scenarios/gemm_clc.hpp"

namespace warptwin::scenarios {

struct GemmClcTf32 : GemmPersistentOf<CtaGroup::kOne, GemmPartsOf<tf32, f32>> {
  static constexpr ScenarioInfo kInfo{
      "gemm_clc_tf32", ScenarioKind::kClean, "GEMM by clusters that claim tiles, tf32 in, f32 out"};
};

}  // namespace warptwin::scenarios
