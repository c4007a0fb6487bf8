/// Scenario: gemm_persistent of e4m3 operands; D is bf16.
///
/// Barriers as in gemm_persistent.
///
/// Expected: clean, as gemm_persistent is.

#pragma once

#include "scenarios/gemm_persistent.hpp"

namespace warptwin::scenarios {

struct GemmPersistentE4m3 : GemmPersistentOf<CtaGroup::kTwo, GemmPartsOf<f8e4m3, bf16>> {
  static constexpr ScenarioInfo kInfo{"gemm_persistent_e4m3",
                                      ScenarioKind::kClean,
                                      "GEMM by pairs that claim tiles, e4m3 in, bf16 out"};
};

}  // namespace warptwin::scenarios
