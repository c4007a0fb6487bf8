/// Scenario: gemm of e5m2 operands; D is f16.
///
/// Barriers as in gemm.
///
/// Expected: clean, as gemm is.

#pragma once

#include "scenarios/gemm.hpp"

namespace warptwin::scenarios {

struct GemmE5m2 : GemmOf<GemmPartsOf<f8e5m2, f16>> {
  static constexpr ScenarioInfo kInfo{"gemm_e5m2", ScenarioKind::kClean, "GEMM, e5m2 in, f16 out"};
};

}  // namespace warptwin::scenarios
