/// Scenario: gemm_wgmma of MN-major operands: A is (k, m), B is (k, n).
///
/// Barriers as in gemm_wgmma. A stage's tiles are panels of 128 bytes of M or N, a copy each; a
/// warpgroup's 64 rows of A are one of them.
///
/// Expected: clean, as gemm_wgmma is.

#pragma once

#include "scenarios/gemm_wgmma.hpp"

namespace warptwin::scenarios {

struct GemmWgmmaMn : GemmWgmmaOf<MnMajorPartsOf<bf16, bf16>> {
  static constexpr ScenarioInfo kInfo{
      "gemm_wgmma_mn", ScenarioKind::kClean, "GEMM for sm_90a, A and B MN-major"};
};

}  // namespace warptwin::scenarios
