/// Scenario: gemm_2sm whose epilogue makes zero of what is negative.
///
/// Barriers as in gemm_2sm.
///
/// Expected: clean, as gemm_2sm is.

#pragma once

#include "scenarios/gemm_2sm.hpp"

namespace warptwin::scenarios {

struct Gemm2smRelu : GemmClusterOf<CtaGroup::kTwo, Rectified<GemmParts>> {
  static constexpr ScenarioInfo kInfo{
      "gemm_2sm_relu", ScenarioKind::kClean, "GEMM by pairs of CTAs with an activation"};
};

}  // namespace warptwin::scenarios
