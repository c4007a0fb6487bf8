/// Scenario: gemm_grouped_persistent of e4m3 operands; D is bf16.
///
/// Barriers as in gemm_grouped_persistent.
///
/// Expected: clean, as gemm_grouped_persistent is.

#pragma once

#include "scenarios/gemm_grouped_persistent.hpp"

namespace warptwin::scenarios {

struct GemmGroupedPersistentE4m3 : GemmGroupedPersistentOf<GemmPartsOf<f8e4m3, bf16>> {
  static constexpr ScenarioInfo kInfo{
      "gemm_grouped_persistent_e4m3",
      ScenarioKind::kClean,
      "GEMMs of groups by pairs that claim tiles, e4m3 in, bf16 out"};
};

}  // namespace warptwin::scenarios
