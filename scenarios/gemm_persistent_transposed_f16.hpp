/// Scenario: gemm_persistent of f16 whose epilogue stores the transpose of D.
///
/// Barriers as in gemm_persistent.
///
/// Expected: clean, as gemm_persistent is.

#pragma once

#include "scenarios/gemm_persistent.hpp"

namespace warptwin::scenarios {

struct GemmPersistentTransposedF16
    : GemmPersistentOf<CtaGroup::kTwo, Transposed<GemmPartsOf<f16, f16>>> {
  static constexpr ScenarioInfo kInfo{
      "gemm_persistent_transposed_f16",
      ScenarioKind::kClean,
      "GEMM by pairs of CTAs whose clusters claim tiles, D stored as (n, m), f16"};
};

}  // namespace warptwin::scenarios
