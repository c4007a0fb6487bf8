/// Scenario: gemm_multicast of e4m3 operands; D is bf16.
///
/// Barriers as in gemm_multicast.
///
/// Expected: clean, as gemm_multicast is.

#pragma once

#include "scenarios/gemm_multicast.hpp"

namespace warptwin::scenarios {

struct GemmMulticastE4m3 : GemmClusterOf<CtaGroup::kOne, GemmPartsOf<f8e4m3, bf16>> {
  static constexpr ScenarioInfo kInfo{
      "gemm_multicast_e4m3", ScenarioKind::kClean, "GEMM by clusters, e4m3 in, bf16 out"};
};

}  // namespace warptwin::scenarios
