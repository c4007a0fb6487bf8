/// Scenario: gemm_small_clc of f16 operands; D is f16, too.
///
/// Barriers as in gemm_small_clc.
///
/// Expected: clean, as gemm_small_clc is.

#pragma once

#include "scenarios/gemm_small_clc.hpp"

namespace warptwin::scenarios {

struct GemmSmallClcF16 : GemmSmallClcOf<GemmPartsOf<f16, f16>> {
  static constexpr ScenarioInfo kInfo{
      "gemm_small_clc_f16",
      ScenarioKind::kClean,
      "GEMM for few rows whose clusters claim tiles, f16 in and out"};
};

}  // namespace warptwin::scenarios
