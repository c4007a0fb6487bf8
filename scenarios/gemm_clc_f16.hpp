/// Scenario: gemm_clc of f16 operands; D is f16.
///
/// Barriers as in gemm_clc.
///
/// Expected: clean, as gemm_clc is.

#pragma once

#include "scenarios/gemm_clc.hpp"

namespace warptwin::scenarios {

struct GemmClcF16 : GemmPersistentOf<CtaGroup::kOne, GemmPartsOf<f16, f16>> {
  static constexpr ScenarioInfo kInfo{
      "gemm_clc_f16", ScenarioKind::kClean, "GEMM by clusters that claim tiles, f16 in, f16 out"};
};

}  // namespace warptwin::scenarios
