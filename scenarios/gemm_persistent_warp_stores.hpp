/// Scenario: gemm_persistent each warp of whose epilogue stores its own rows of D.
///
/// Barriers as in gemm_persistent; no named barrier brings the epilogue warps together between
/// stores.
///
/// Expected: clean, as gemm_persistent is.

#pragma once

#include "scenarios/gemm_persistent.hpp"

namespace warptwin::scenarios {

struct GemmPersistentWarpStores : GemmPersistentOf<CtaGroup::kTwo, StoredByWarps<GemmParts>> {
  static constexpr ScenarioInfo kInfo{
      "gemm_persistent_warp_stores",
      ScenarioKind::kClean,
      "GEMM by pairs of CTAs whose clusters claim tiles, stored by each warp"};
};

}  // namespace warptwin::scenarios
