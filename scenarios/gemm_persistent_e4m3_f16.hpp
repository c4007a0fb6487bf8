/// Scenario: gemm_persistent of e4m3 operands; D is f16.
///
/// Barriers as in gemm_persistent.
///
/// Expected: clean, as gemm_persistent is.

#pragma once

#include "scenarios/gemm_persistent.hpp"

namespace warptwin::scenarios {

struct GemmPersistentE4m3F16 : GemmPersistentOf<CtaGroup::kTwo, GemmPartsOf<f8e4m3, f16>> {
  static constexpr ScenarioInfo kInfo{
      "gemm_persistent_e4m3_f16",
      ScenarioKind::kClean,
      "GEMM by pairs of CTAs whose clusters claim tiles, e4m3 in, f16 out"};
};

}  // namespace warptwin::scenarios
