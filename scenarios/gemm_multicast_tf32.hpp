/// Scenario: gemm_multicast of tf32 operands; D is f32.
///
/// Barriers as in gemm_multicast.
///
/// Expected: clean, as gemm_multicast is.

#pragma once

#include "scenarios/gemm_multicast.hpp"

namespace warptwin::scenarios {

struct GemmMulticastTf32 : GemmClusterOf<CtaGroup::kOne, GemmPartsOf<tf32, f32>> {
  static constexpr ScenarioInfo kInfo{
      "gemm_multicast_tf32", ScenarioKind::kClean, "GEMM by clusters, tf32 in, f32 out"};
};

}  // namespace warptwin::scenarios
