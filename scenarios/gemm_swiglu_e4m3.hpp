/// Scenario: gemm_swiglu of e4m3 operands; D is bf16.
///
/// Barriers as in gemm_swiglu.
///
/// Expected: clean, as gemm_swiglu is.

#pragma once

#include "scenarios/gemm_swiglu.hpp"

namespace warptwin::scenarios {

struct GemmSwigluE4m3 : GemmSwigluOf<GemmPartsOf<f8e4m3, bf16>> {
  static constexpr ScenarioInfo kInfo{
      "gemm_swiglu_e4m3", ScenarioKind::kClean, "gated activation and biases, e4m3 in, bf16 out"};
};

}  // namespace warptwin::scenarios
