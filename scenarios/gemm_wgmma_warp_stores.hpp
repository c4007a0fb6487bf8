/// Scenario: gemm_wgmma in which each warp stores its own rows of D: no warp waits for another.
///
/// Barriers as in gemm_wgmma.
///
/// Expected: clean, as gemm_wgmma is.

#pragma once

#include "scenarios/gemm_wgmma.hpp"

namespace warptwin::scenarios {

struct GemmWgmmaWarpStores : GemmWgmmaOf<StoredByWarps<GemmParts>> {
  static constexpr ScenarioInfo kInfo{"gemm_wgmma_warp_stores",
                                      ScenarioKind::kClean,
                                      "GEMM for sm_90a whose warps store their own rows"};
};

}  // namespace warptwin::scenarios
