/// Scenario: gemm_persistent_mn of e4m3 operands; D is bf16.
///
/// Barriers as in gemm_persistent. A stage's tiles are panels of 128 bytes of M or N, a copy each.
///
/// Expected: clean, as gemm_persistent_mn is.

#pragma once

#include "scenarios/gemm_persistent.hpp"

namespace warptwin::scenarios {

struct GemmPersistentMnE4m3 : GemmPersistentOf<CtaGroup::kTwo, MnMajorPartsOf<f8e4m3, bf16>> {
  static constexpr ScenarioInfo kInfo{
      "gemm_persistent_mn_e4m3",
      ScenarioKind::kClean,
      "GEMM of e4m3 by pairs of CTAs whose clusters claim tiles, A and B MN-major"};
};

}  // namespace warptwin::scenarios
