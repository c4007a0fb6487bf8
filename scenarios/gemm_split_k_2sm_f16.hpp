/// Scenario: gemm_split_k_2sm of f16 operands; the sums are fp32, D is f16.
///
/// Barriers as in gemm_split_k_2sm.
///
/// Expected: clean, as gemm_split_k_2sm is.

#pragma once

#include "scenarios/gemm_split_k_2sm.hpp"

namespace warptwin::scenarios {

struct GemmSplitK2smF16 : GemmSplitK2smOf<GemmPartsOf<f16, f16>> {
  static constexpr ScenarioInfo kInfo{"gemm_split_k_2sm_f16",
                                      ScenarioKind::kClean,
                                      "GEMM by pairs whose tiles are sums, f16 in, f16 out"};
};

}  // namespace warptwin::scenarios
