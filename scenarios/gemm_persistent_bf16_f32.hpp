/// Scenario: gemm_persistent of bf16 operands; D is f32.
///
/// Barriers as in gemm_persistent.
///
/// Expected: clean, as gemm_persistent is.

#pragma once

#include "scenarios/gemm_persistent.hpp"

namespace warptwin::scenarios {

struct GemmPersistentBf16F32 : GemmPersistentOf<CtaGroup::kTwo, GemmPartsOf<bf16, f32>> {
  static constexpr ScenarioInfo kInfo{
      "gemm_persistent_bf16_f32",
      ScenarioKind::kClean,
      "GEMM by pairs of CTAs whose clusters claim tiles, bf16 in, f32 out"};
};

}  // namespace warptwin::scenarios
