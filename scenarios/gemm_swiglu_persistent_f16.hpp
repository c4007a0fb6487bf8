/// Scenario: gemm_swiglu_persistent of f16 operands; D is f16.
///
/// Barriers as in gemm_swiglu_persistent.
///
/// Expected: clean, as gemm_swiglu_persistent is.

#pragma once

#include "scenarios/gemm_swiglu_persistent.hpp"

namespace warptwin::scenarios {

struct GemmSwigluPersistentF16 : GemmSwigluPersistentOf<CtaGroup::kTwo, GemmPartsOf<f16, f16>> {
  static constexpr ScenarioInfo kInfo{
      "gemm_swiglu_persistent_f16",
      ScenarioKind::kClean,
      "gated activation by pairs that claim tiles, f16 in, f16 out"};
};

}  // namespace warptwin::scenarios
