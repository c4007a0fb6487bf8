/// Scenario: gemm of tf32 operands; D is f32.
///
/// Barriers as in gemm.
///
/// Expected: clean, as gemm is.

#pragma once

#include "scenarios/gemm.hpp"

namespace warptwin::scenarios {

struct GemmTf32 : GemmOf<GemmPartsOf<tf32, f32>> {
  static constexpr ScenarioInfo kInfo{"gemm_tf32", ScenarioKind::kClean, "GEMM, tf32 in, f32 out"};
};

}  // namespace warptwin::scenarios
