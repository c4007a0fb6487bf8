/// Scenario: gemm_wgmma of f16 operands; D is f32.
///
/// Barriers as in gemm_wgmma.
///
/// Expected: clean, as gemm_wgmma is.

#pragma once

#include "scenarios/gemm_wgmma.hpp"

namespace warptwin::scenarios {

struct GemmWgmmaF16 : GemmWgmmaOf<GemmPartsOf<f16, f32>> {
  static constexpr ScenarioInfo kInfo{
      "gemm_wgmma_f16", ScenarioKind::kClean, "GEMM for sm_90a, f16 in, f32 out"};
};

}  // namespace warptwin::scenarios
