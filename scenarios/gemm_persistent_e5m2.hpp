/// Scenario: gemm_persistent of e5m2 operands; D is f16.
///
/// Barriers as in gemm_persistent.
///
/// Expected: clean, as gemm_persistent is.

#pragma once

#include "scenarios/gemm_persistent.hpp"

namespace warptwin::scenarios {

struct GemmPersistentE5m2 : GemmPersistentOf<CtaGroup::kTwo, GemmPartsOf<f8e5m2, f16>> {
  static constexpr ScenarioInfo kInfo{"gemm_persistent_e5m2",
                                      ScenarioKind::kClean,
                                      "GEMM by pairs that claim tiles, e5m2 in, f16 out"};
};

}  // namespace warptwin::scenarios
