/// Scenario: gemm_2sm of MN-major operands: A is (k, m), B is (k, n).
///
/// Barriers as in gemm_2sm. A stage's tiles are panels of 128 bytes of M or N, a copy each.
///
/// Expected: clean, as gemm_2sm is.

#pragma once

#include "scenarios/gemm_2sm.hpp"

namespace warptwin::scenarios {

struct Gemm2smMn : GemmClusterOf<CtaGroup::kTwo, MnMajorPartsOf<bf16, bf16>> {
  static constexpr ScenarioInfo kInfo{
      "gemm_2sm_mn", ScenarioKind::kClean, "GEMM by pairs of CTAs, A and B MN-major"};
};

}  // namespace warptwin::scenarios
