/// Scenario: gemm_2sm whose epilogue stores the transpose of D.
///
/// Barriers as in gemm_2sm.
///
/// Expected: clean, as gemm_2sm is.

#pragma once

#include "scenarios/gemm_2sm.hpp"

namespace warptwin::scenarios {

struct Gemm2smTransposed : GemmClusterOf<CtaGroup::kTwo, Transposed<GemmParts>> {
  static constexpr ScenarioInfo kInfo{
      "gemm_2sm_transposed", ScenarioKind::kClean, "GEMM by pairs of CTAs, D stored as (n, m)"};
};

}  // namespace warptwin::scenarios
