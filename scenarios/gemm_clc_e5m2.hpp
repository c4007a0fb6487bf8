/// Scenario: gemm_clc of e5m2 operands; D is f32.
///
/// Barriers as in gemm_clc.
///
/// Expected: clean, as gemm_clc is.

#pragma once

#include "scenarios/gemm_clc.hpp"

namespace warptwin::scenarios {

struct GemmClcE5m2 : GemmPersistentOf<CtaGroup::kOne, GemmPartsOf<f8e5m2, f32>> {
  static constexpr ScenarioInfo kInfo{
      "gemm_clc_e5m2", ScenarioKind::kClean, "GEMM by clusters that claim tiles, e5m2 in, f32 out"};
};

}  // namespace warptwin::scenarios
