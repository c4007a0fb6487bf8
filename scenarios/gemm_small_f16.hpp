/// Scenario: gemm_small of f16 operands; D is f16.
///
/// Barriers as in gemm_small.
///
/// Expected: clean, as gemm_small is.

#pragma once

#include "scenarios/gemm_small.hpp"

namespace warptwin::scenarios {

struct GemmSmallF16 : GemmSmallOf<GemmPartsOf<f16, f16>> {
  static constexpr ScenarioInfo kInfo{
      "gemm_small_f16", ScenarioKind::kClean, "GEMM for few rows, f16 in, f16 out"};
};

}  // namespace warptwin::scenarios
