/// Scenario: gemm_persistent of MN-major operands: A is (k, m), B is (k, n).
///
/// Barriers as in gemm_persistent. A stage's tiles are panels of 128 bytes of M or N, a copy each.
///
/// Expected: clean, as gemm_persistent is.

#pragma once

#include "scenarios/gemm_persistent.hpp"

namespace warptwin::scenarios {

struct GemmPersistentMn : GemmPersistentOf<CtaGroup::kTwo, MnMajorPartsOf<bf16, bf16>> {
  static constexpr ScenarioInfo kInfo{
      "gemm_persistent_mn",
      ScenarioKind::kClean,
      "GEMM by pairs of CTAs whose clusters claim tiles, A and B MN-major"};
};

}  // namespace warptwin::scenarios
