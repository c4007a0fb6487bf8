/// Scenario: gemm_2sm whose epilogue has sums as matrix instructions do, writes D by stmatrix,
/// and each of whose warps stores its own rows.
///
/// Barriers as in gemm_2sm; no named barrier brings the epilogue warps together between stores.
///
/// Expected: clean, as gemm_2sm is.

#pragma once

#include "scenarios/gemm_2sm.hpp"

namespace warptwin::scenarios {

struct Gemm2smStmatrix : GemmClusterOf<CtaGroup::kTwo, ByMatrices<StoredByWarps<GemmParts>>> {
  static constexpr ScenarioInfo kInfo{
      "gemm_2sm_stmatrix", ScenarioKind::kClean, "GEMM by pairs of CTAs, D written by stmatrix"};
};

}  // namespace warptwin::scenarios
