/// Scenario: gemm_multicast whose epilogue stores the transpose of D.
///
/// Barriers as in gemm_multicast.
///
/// Expected: clean, as gemm_multicast is.

#pragma once

#include "scenarios/gemm_multicast.hpp"

namespace warptwin::scenarios {

struct GemmMulticastTransposed : GemmClusterOf<CtaGroup::kOne, Transposed<GemmParts>> {
  static constexpr ScenarioInfo kInfo{
      "gemm_multicast_transposed",
      ScenarioKind::kClean,
      "GEMM by clusters of CTAs that share copies, D stored as (n, m)"};
};

}  // namespace warptwin::scenarios
