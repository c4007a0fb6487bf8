/// Scenario: gemm_grouped of e4m3 operands; D is bf16.
///
/// Barriers as in gemm_grouped.
///
/// Expected: clean, as gemm_grouped is.

#pragma once

#include "scenarios/gemm_grouped.hpp"

namespace warptwin::scenarios {

struct GemmGroupedE4m3 : GemmGroupedOf<GemmPartsOf<f8e4m3, bf16>> {
  static constexpr ScenarioInfo kInfo{
      "gemm_grouped_e4m3", ScenarioKind::kClean, "GEMMs of groups, e4m3 in, bf16 out"};
};

}  // namespace warptwin::scenarios
