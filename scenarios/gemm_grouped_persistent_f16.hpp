/// Scenario: gemm_grouped_persistent of f16 operands; D is f16.
///
/// Barriers as in gemm_grouped_persistent.
///
/// Expected: clean, as gemm_grouped_persistent is.

#pragma once

#include "scenarios/gemm_grouped_persistent.hpp"

namespace warptwin::scenarios {

struct GemmGroupedPersistentF16 : GemmGroupedPersistentOf<GemmPartsOf<f16, f16>> {
  static constexpr ScenarioInfo kInfo{"gemm_grouped_persistent_f16",
                                      ScenarioKind::kClean,
                                      "GEMMs of groups by pairs that claim tiles, f16 in, f16 out"};
};

}  // namespace warptwin::scenarios
