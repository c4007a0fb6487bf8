/// Scenario: gemm_wgmma of e4m3 operands; D is e4m3.
///
/// Barriers as in gemm_wgmma.
///
/// Expected: clean, as gemm_wgmma is.

#pragma once

#include "scenarios/gemm_wgmma.hpp"

namespace warptwin::scenarios {

struct GemmWgmmaE4m3 : GemmWgmmaOf<GemmPartsOf<f8e4m3, f8e4m3>> {
  static constexpr ScenarioInfo kInfo{
      "gemm_wgmma_e4m3", ScenarioKind::kClean, "GEMM for sm_90a, e4m3 in, e4m3 out"};
};

}  // namespace warptwin::scenarios
