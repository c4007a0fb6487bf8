/// Scenario: gemm_multicast of MN-major operands: A is (k, m), B is (k, n).
///
/// Barriers as in gemm_multicast. A stage's tiles are panels of 128 bytes of M or N, a copy each.
///
/// Expected: clean, as gemm_multicast is.

#pragma once

#include "scenarios/gemm_multicast.hpp"

namespace warptwin::scenarios {

struct GemmMulticastMn : GemmClusterOf<CtaGroup::kOne, MnMajorPartsOf<bf16, bf16>> {
  static constexpr ScenarioInfo kInfo{
      "gemm_multicast_mn",
      ScenarioKind::kClean,
      "GEMM by clusters of CTAs that share copies, A and B MN-major"};
};

}  // namespace warptwin::scenarios
