/// Scenario: gemm_swiglu of f16 operands; D is f16.
///
/// Barriers as in gemm_swiglu.
///
/// Expected: clean, as gemm_swiglu is.

#pragma once

#include "scenarios/gemm_swiglu.hpp"

namespace warptwin::scenarios {

struct GemmSwigluF16 : GemmSwigluOf<GemmPartsOf<f16, f16>> {
  static constexpr ScenarioInfo kInfo{
      "gemm_swiglu_f16", ScenarioKind::kClean, "gated activation and biases, f16 in, f16 out"};
};

}  // namespace warptwin::scenarios
