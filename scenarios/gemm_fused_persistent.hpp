/// Scenario: gemm_fused by pairs of CTAs whose clusters claim tiles by cluster launch control.
///
/// Barriers as in gemm_epilogue_load_persistent.
///
/// Each CTA of a pair stores its own rows' maxima.
///
/// Expected: clean, as gemm_epilogue_load_persistent is, with each kind of source.

#pragma once

#include "scenarios/gemm_epilogue_load_persistent.hpp"
#include "scenarios/gemm_fused.hpp"

namespace warptwin::scenarios {

struct GemmFusedPersistent : GemmEpilogueLoadPersistentOf<CtaGroup::kTwo, GemmFusedParts> {
  static constexpr ScenarioInfo kInfo{"gemm_fused_persistent",
                                      ScenarioKind::kClean,
                                      "GEMM of e4m3 by pairs whose clusters claim tiles, with "
                                      "biases, an activation, a scale, and the maxima of rows"};
};

}  // namespace warptwin::scenarios
