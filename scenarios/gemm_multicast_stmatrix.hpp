/// Scenario: gemm_multicast whose epilogue has sums as matrix instructions do, writes D by
/// stmatrix, and each of whose warps stores its own rows.
///
/// Barriers as in gemm_multicast; no named barrier brings the epilogue warps together between
/// stores.
///
/// Expected: clean, as gemm_multicast is.

#pragma once

#include "scenarios/gemm_multicast.hpp"

namespace warptwin::scenarios {

struct GemmMulticastStmatrix : GemmClusterOf<CtaGroup::kOne, ByMatrices<StoredByWarps<GemmParts>>> {
  static constexpr ScenarioInfo kInfo{
      "gemm_multicast_stmatrix",
      ScenarioKind::kClean,
      "GEMM by clusters of CTAs that share copies, D written by stmatrix"};
};

}  // namespace warptwin::scenarios
