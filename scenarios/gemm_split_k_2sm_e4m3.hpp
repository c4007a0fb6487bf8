/// Scenario: gemm_split_k_2sm of e4m3 operands; the sums are fp32, D is bf16.
///
/// Barriers as in gemm_split_k_2sm.
///
/// Expected: clean, as gemm_split_k_2sm is.

#pragma once

#include "scenarios/gemm_split_k_2sm.hpp"

namespace warptwin::scenarios {

struct GemmSplitK2smE4m3 : GemmSplitK2smOf<GemmPartsOf<f8e4m3, bf16>> {
  static constexpr ScenarioInfo kInfo{"gemm_split_k_2sm_e4m3",
                                      ScenarioKind::kClean,
                                      "GEMM by pairs whose tiles are sums, e4m3 in, bf16 out"};
};

}  // namespace warptwin::scenarios
