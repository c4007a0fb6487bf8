/// Scenario: gemm_wgmma of s8 operands; sums are s32, D is f32.
///
/// Barriers as in gemm_wgmma.
///
/// Expected: clean, as gemm_wgmma is.

#pragma once

#include "scenarios/gemm_wgmma.hpp"

namespace warptwin::scenarios {

struct GemmWgmmaS8 : GemmWgmmaOf<GemmPartsOf<s8, f32>> {
  static constexpr ScenarioInfo kInfo{
      "gemm_wgmma_s8", ScenarioKind::kClean, "GEMM for sm_90a, s8 in, f32 out"};
};

}  // namespace warptwin::scenarios
