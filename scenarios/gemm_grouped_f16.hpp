/// Scenario: gemm_grouped of f16 operands; D is f16.
///
/// Barriers as in gemm_grouped.
///
/// Expected: clean, as gemm_grouped is.

#pragma once

#include "scenarios/gemm_grouped.hpp"

namespace warptwin::scenarios {

struct GemmGroupedF16 : GemmGroupedOf<GemmPartsOf<f16, f16>> {
  static constexpr ScenarioInfo kInfo{
      "gemm_grouped_f16", ScenarioKind::kClean, "GEMMs of groups, f16 in, f16 out"};
};

}  // namespace warptwin::scenarios
