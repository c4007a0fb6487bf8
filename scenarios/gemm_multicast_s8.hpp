/// Scenario: gemm_multicast of s8 operands; sums are s32, D is f32.
///
/// Barriers as in gemm_multicast.
///
/// Expected: clean, as gemm_multicast is.

#pragma once

#include "scenarios/gemm_multicast.hpp"

namespace warptwin::scenarios {

struct GemmMulticastS8 : GemmClusterOf<CtaGroup::kOne, GemmPartsOf<s8, f32>> {
  static constexpr ScenarioInfo kInfo{
      "gemm_multicast_s8", ScenarioKind::kClean, "GEMM by clusters, s8 in, f32 out"};
};

}  // namespace warptwin::scenarios
