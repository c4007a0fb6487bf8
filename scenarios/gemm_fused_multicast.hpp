/// Scenario: gemm_fused by clusters of CTAs that share copies.
///
/// Barriers as in gemm_epilogue_load_multicast.
///
/// Each CTA stores its own rows' maxima.
///
/// Expected: clean, as gemm_epilogue_load_multicast is, with each kind of source.

#pragma once

#include "scenarios/gemm_epilogue_load_2sm.hpp"
#include "scenarios/gemm_fused.hpp"

namespace warptwin::scenarios {

struct GemmFusedMulticast : GemmEpilogueLoadClusterOf<CtaGroup::kOne, GemmFusedParts> {
  static constexpr ScenarioInfo kInfo{"gemm_fused_multicast",
                                      ScenarioKind::kClean,
                                      "GEMM of e4m3 by clusters of CTAs that share copies, with "
                                      "biases, an activation, a scale, and the maxima of rows"};
};

}  // namespace warptwin::scenarios
