/// Scenario: gemm_small of e4m3 operands; D is bf16.
///
/// Barriers as in gemm_small.
///
/// Expected: clean, as gemm_small is.

#pragma once

#include "scenarios/gemm_small.hpp"

namespace warptwin::scenarios {

struct GemmSmallE4m3 : GemmSmallOf<GemmPartsOf<f8e4m3, bf16>> {
  static constexpr ScenarioInfo kInfo{
      "gemm_small_e4m3", ScenarioKind::kClean, "GEMM for few rows, e4m3 in, bf16 out"};
};

}  // namespace warptwin::scenarios
