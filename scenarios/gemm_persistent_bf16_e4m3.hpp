/// Scenario: gemm_persistent of bf16 operands; D is e4m3.
///
/// Barriers as in gemm_persistent.
///
/// Expected: clean, as gemm_persistent is.

#pragma once

#include "scenarios/gemm_persistent.hpp"

namespace warptwin::scenarios {

struct GemmPersistentBf16E4m3 : GemmPersistentOf<CtaGroup::kTwo, GemmPartsOf<bf16, f8e4m3>> {
  static constexpr ScenarioInfo kInfo{
      "gemm_persistent_bf16_e4m3",
      ScenarioKind::kClean,
      "GEMM by pairs of CTAs whose clusters claim tiles, bf16 in, e4m3 out"};
};

}  // namespace warptwin::scenarios
