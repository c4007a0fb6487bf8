/// Scenario: gemm_mixed_input_persistent with MMAs of one CTA: clusters of single CTAs claim tiles.

#pragma once

#include "scenarios/gemm_mixed_input_persistent.hpp"

namespace warptwin::scenarios {

struct GemmMixedInputClc : GemmMixedInputPersistentOf<GemmMixedInput> {
  static constexpr ScenarioInfo kInfo{"gemm_mixed_input_clc",
                                      ScenarioKind::kClean,
                                      "gemm_mixed_input whose clusters of CTAs claim tiles"};
};

}  // namespace warptwin::scenarios
