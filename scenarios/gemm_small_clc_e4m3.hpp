/// Scenario: gemm_small_clc of e4m3 operands; D is bf16.
///
/// Barriers as in gemm_small_clc.
///
/// Expected: clean, as gemm_small_clc is.

#pragma once

#include "scenarios/gemm_small_clc.hpp"

namespace warptwin::scenarios {

struct GemmSmallClcE4m3 : GemmSmallClcOf<GemmPartsOf<f8e4m3, bf16>> {
  static constexpr ScenarioInfo kInfo{
      "gemm_small_clc_e4m3",
      ScenarioKind::kClean,
      "GEMM for few rows whose clusters claim tiles, e4m3 in, bf16 out"};
};

}  // namespace warptwin::scenarios
