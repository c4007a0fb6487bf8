/// Scenario: gemm_clc of MN-major operands: A is (k, m), B is (k, n).
///
/// Barriers as in gemm_clc. A stage's tiles are panels of 128 bytes of M or N, a copy each.
///
/// Expected: clean, as gemm_clc is.

#pragma once

#include "scenarios/gemm_clc.hpp"

namespace warptwin::scenarios {

struct GemmClcMn : GemmPersistentOf<CtaGroup::kOne, MnMajorPartsOf<bf16, bf16>> {
  static constexpr ScenarioInfo kInfo{
      "gemm_clc_mn", ScenarioKind::kClean, "GEMM whose clusters claim tiles, A and B MN-major"};
};

}  // namespace warptwin::scenarios
