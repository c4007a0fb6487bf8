/// Scenario: gemm_clc of e4m3 operands; D is bf16.
///
/// Barriers as in gemm_clc.
///
/// Expected: clean, as gemm_clc is.

#pragma once

#include "scenarios/gemm_clc.hpp"

namespace warptwin::scenarios {

struct GemmClcE4m3 : GemmPersistentOf<CtaGroup::kOne, GemmPartsOf<f8e4m3, bf16>> {
  static constexpr ScenarioInfo kInfo{"gemm_clc_e4m3",
                                      ScenarioKind::kClean,
                                      "GEMM by clusters that claim tiles, e4m3 in, bf16 out"};
};

}  // namespace warptwin::scenarios
