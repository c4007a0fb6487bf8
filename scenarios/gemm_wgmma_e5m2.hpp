/// Scenario: gemm_wgmma of e5m2 operands; D is f16.
///
/// Barriers as in gemm_wgmma.
///
/// Expected: clean, as gemm_wgmma is.

#pragma once

#include "scenarios/gemm_wgmma.hpp"

namespace warptwin::scenarios {

struct GemmWgmmaE5m2 : GemmWgmmaOf<GemmPartsOf<f8e5m2, f16>> {
  static constexpr ScenarioInfo kInfo{
      "gemm_wgmma_e5m2", ScenarioKind::kClean, "GEMM for sm_90a, e5m2 in, f16 out"};
};

}  // namespace warptwin::scenarios
