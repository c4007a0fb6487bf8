/// Scenario: gemm_persistent of f16 operands; D is f32.
///
/// Barriers as in gemm_persistent.
///
/// Expected: clean, as gemm_persistent is.

#pragma once

#include "scenarios/gemm_persistent.hpp"

namespace warptwin::scenarios {

struct GemmPersistentF16F32 : GemmPersistentOf<CtaGroup::kTwo, GemmPartsOf<f16, f32>> {
  static constexpr ScenarioInfo kInfo{
      "gemm_persistent_f16_f32",
      ScenarioKind::kClean,
      "GEMM by pairs of CTAs whose clusters claim tiles, f16 in, f32 out"};
};

}  // namespace warptwin::scenarios
