/// Scenario: gemm_persistent of which B alone is MN-major, (k, n): weights as they are trained.
///
/// Barriers as in gemm_persistent. B's tile in a stage is panels of 128 bytes of N, a copy each.
///
/// Expected: clean, as gemm_persistent is.

#pragma once

#include "scenarios/gemm_persistent.hpp"

namespace warptwin::scenarios {

struct GemmPersistentMnB : GemmPersistentOf<CtaGroup::kTwo, MnMajorBPartsOf<bf16, bf16>> {
  static constexpr ScenarioInfo kInfo{
      "gemm_persistent_mn_b",
      ScenarioKind::kClean,
      "GEMM by pairs of CTAs whose clusters claim tiles, B MN-major"};
};

}  // namespace warptwin::scenarios
