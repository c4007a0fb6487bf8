/// Scenario: gemm_multicast of e5m2 operands; D is f16.
///
/// Barriers as in gemm_multicast.
///
/// Expected: clean, as gemm_multicast is.

#pragma once

#include "scenarios/gemm_multicast.hpp"

namespace warptwin::scenarios {

struct GemmMulticastE5m2 : GemmClusterOf<CtaGroup::kOne, GemmPartsOf<f8e5m2, f16>> {
  static constexpr ScenarioInfo kInfo{
      "gemm_multicast_e5m2", ScenarioKind::kClean, "GEMM by clusters, e5m2 in, f16 out"};
};

}  // namespace warptwin::scenarios
