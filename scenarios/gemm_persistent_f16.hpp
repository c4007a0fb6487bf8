/// Scenario: gemm_persistent of f16 operands; D is bf16.
///
/// Barriers as in gemm_persistent.
///
/// Expected: clean, as gemm_persistent is.

#pragma once

#include "scenarios/gemm_persistent.hpp"

namespace warptwin::scenarios {

struct GemmPersistentF16 : GemmPersistentOf<CtaGroup::kTwo, GemmPartsOf<f16, bf16>> {
  static constexpr ScenarioInfo kInfo{"gemm_persistent_f16",
                                      ScenarioKind::kClean,
                                      "GEMM by pairs that claim tiles, f16 in, bf16 out"};
};

}  // namespace warptwin::scenarios
