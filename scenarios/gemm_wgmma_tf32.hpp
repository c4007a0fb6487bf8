/// Scenario: gemm_wgmma of tf32 operands; D is f32.
///
/// Barriers as in gemm_wgmma.
///
/// Expected: clean, as gemm_wgmma is.

#pragma once

#include "scenarios/gemm_wgmma.hpp"

namespace warptwin::scenarios {

struct GemmWgmmaTf32 : GemmWgmmaOf<GemmPartsOf<tf32, f32>> {
  static constexpr ScenarioInfo kInfo{
      "gemm_wgmma_tf32", ScenarioKind::kClean, "GEMM for sm_90a, tf32 in, f32 out"};
};

}  // namespace warptwin::scenarios
