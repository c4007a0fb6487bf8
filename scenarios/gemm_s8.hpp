/// Scenario: gemm of s8 operands; sums are s32, D is f32.
///
/// Barriers as in gemm.
///
/// Expected: clean, as gemm is.

#pragma once

#include "scenarios/gemm.hpp"

namespace warptwin::scenarios {

struct GemmS8 : GemmOf<GemmPartsOf<s8, f32>> {
  static constexpr ScenarioInfo kInfo{"gemm_s8", ScenarioKind::kClean, "GEMM, s8 in, f32 out"};
};

}  // namespace warptwin::scenarios
