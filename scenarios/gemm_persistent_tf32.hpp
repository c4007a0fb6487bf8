/// Scenario: gemm_persistent of tf32 operands; D is f32.
///
/// Barriers as in gemm_persistent.
///
/// Expected: clean, as gemm_persistent is.

#pragma once

#include "scenarios/gemm_persistent.hpp"

namespace warptwin::scenarios {

struct GemmPersistentTf32 : GemmPersistentOf<CtaGroup::kTwo, GemmPartsOf<tf32, f32>> {
  static constexpr ScenarioInfo kInfo{"gemm_persistent_tf32",
                                      ScenarioKind::kClean,
                                      "GEMM by pairs that claim tiles, tf32 in, f32 out"};
};

}  // namespace warptwin::scenarios
