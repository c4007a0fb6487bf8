/// Scenario: gemm_2sm each warp of whose epilogue stores its own rows of D.
///
/// Barriers as in gemm_2sm; no named barrier brings the epilogue warps together between stores.
///
/// Expected: clean, as gemm_2sm is.

#pragma once

#include "scenarios/gemm_2sm.hpp"

namespace warptwin::scenarios {

struct Gemm2smWarpStores : GemmClusterOf<CtaGroup::kTwo, StoredByWarps<GemmParts>> {
  static constexpr ScenarioInfo kInfo{
      "gemm_2sm_warp_stores", ScenarioKind::kClean, "GEMM by pairs of CTAs, stored by each warp"};
};

}  // namespace warptwin::scenarios
