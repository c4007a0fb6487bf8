/// Scenario: gemm of f16 operands; D is f16.
///
/// Barriers as in gemm.
///
/// Expected: clean, as gemm is.

#pragma once

#include "scenarios/gemm.hpp"

namespace warptwin::scenarios {

struct GemmF16 : GemmOf<GemmPartsOf<f16, f16>> {
  static constexpr ScenarioInfo kInfo{"gemm_f16", ScenarioKind::kClean, "GEMM, f16 in, f16 out"};
};

}  // namespace warptwin::scenarios
