/// Scenario: gemm of e4m3 operands; D is bf16.
///
/// Barriers as in gemm.
///
/// Expected: clean, as gemm is.

#pragma once

#include "scenarios/gemm.hpp"

namespace warptwin::scenarios {

struct GemmE4m3 : GemmOf<GemmPartsOf<f8e4m3, bf16>> {
  static constexpr ScenarioInfo kInfo{"gemm_e4m3", ScenarioKind::kClean, "GEMM, e4m3 in, bf16 out"};
};

}  // namespace warptwin::scenarios
