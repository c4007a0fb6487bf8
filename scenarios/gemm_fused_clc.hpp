/// Scenario: gemm_fused whose clusters claim tiles by cluster launch control, an MMA in each CTA.
///
/// Barriers as in gemm_epilogue_load_clc.
///
/// Expected: clean, as gemm_epilogue_load_clc is, with each kind of source.

#pragma once

#include "scenarios/gemm_epilogue_load_persistent.hpp"
#include "scenarios/gemm_fused.hpp"

namespace warptwin::scenarios {

struct GemmFusedClc : GemmEpilogueLoadPersistentOf<CtaGroup::kOne, GemmFusedParts> {
  static constexpr ScenarioInfo kInfo{"gemm_fused_clc",
                                      ScenarioKind::kClean,
                                      "GEMM of e4m3 whose clusters claim tiles, with biases, an "
                                      "activation, a scale, and the maxima of rows"};
};

}  // namespace warptwin::scenarios
