/// Scenario: gemm_persistent of s8 operands; sums are s32, D is f32.
///
/// Barriers as in gemm_persistent.
///
/// Expected: clean, as gemm_persistent is.

#pragma once

#include "scenarios/gemm_persistent.hpp"

namespace warptwin::scenarios {

struct GemmPersistentS8 : GemmPersistentOf<CtaGroup::kTwo, GemmPartsOf<s8, f32>> {
  static constexpr ScenarioInfo kInfo{
      "gemm_persistent_s8", ScenarioKind::kClean, "GEMM by pairs that claim tiles, s8 in, f32 out"};
};

}  // namespace warptwin::scenarios
