/// Scenario: gemm_persistent of e4m3 operands; D is f32.
///
/// Barriers as in gemm_persistent.
///
/// Expected: clean, as gemm_persistent is.

#pragma once

#include "scenarios/gemm_persistent.hpp"

namespace warptwin::scenarios {

struct GemmPersistentE4m3F32 : GemmPersistentOf<CtaGroup::kTwo, GemmPartsOf<f8e4m3, f32>> {
  static constexpr ScenarioInfo kInfo{
      "gemm_persistent_e4m3_f32",
      ScenarioKind::kClean,
      "GEMM by pairs of CTAs whose clusters claim tiles, e4m3 in, f32 out"};
};

}  // namespace warptwin::scenarios
