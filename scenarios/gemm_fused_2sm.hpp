/// Scenario: gemm_fused by pairs of CTAs.
///
/// Barriers as in gemm_epilogue_load_2sm.
///
/// Each CTA stores its own rows' maxima.
///
/// Expected: clean, as gemm_epilogue_load_2sm is, with each kind of source.

#pragma once

#include "scenarios/gemm_epilogue_load_2sm.hpp"
#include "scenarios/gemm_fused.hpp"

namespace warptwin::scenarios {

struct GemmFused2sm : GemmEpilogueLoadClusterOf<CtaGroup::kTwo, GemmFusedParts> {
  static constexpr ScenarioInfo kInfo{"gemm_fused_2sm",
                                      ScenarioKind::kClean,
                                      "GEMM of e4m3 by pairs of CTAs, with "
                                      "biases, an activation, a scale, and the maxima of rows"};
};

}  // namespace warptwin::scenarios
