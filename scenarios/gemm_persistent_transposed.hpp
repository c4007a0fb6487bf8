/// Scenario: gemm_persistent whose epilogue stores the transpose of D.
///
/// Barriers as in gemm_persistent.
///
/// Expected: clean, as gemm_persistent is.

#pragma once

#include "scenarios/gemm_persistent.hpp"

namespace warptwin::scenarios {

struct GemmPersistentTransposed : GemmPersistentOf<CtaGroup::kTwo, Transposed<GemmParts>> {
  static constexpr ScenarioInfo kInfo{
      "gemm_persistent_transposed",
      ScenarioKind::kClean,
      "GEMM by pairs of CTAs whose clusters claim tiles, D stored as (n, m)"};
};

}  // namespace warptwin::scenarios
