/// Scenario: gemm_multicast of f16 operands; D is f32.
///
/// Barriers as in gemm_multicast.
///
/// Expected: clean, as gemm_multicast is.

#pragma once

#include "scenarios/gemm_multicast.hpp"

namespace warptwin::scenarios {

struct GemmMulticastF16 : GemmClusterOf<CtaGroup::kOne, GemmPartsOf<f16, f32>> {
  static constexpr ScenarioInfo kInfo{
      "gemm_multicast_f16", ScenarioKind::kClean, "GEMM by clusters, f16 in, f32 out"};
};

}  // namespace warptwin::scenarios
