/// Scenario: gemm_split_k of e4m3 operands; the sums are fp32, D is bf16.
///
/// Barriers as in gemm_split_k.
///
/// Expected: clean, as gemm_split_k is.

#pragma once

#include "scenarios/gemm_split_k.hpp"

namespace warptwin::scenarios {

struct GemmSplitKE4m3 : GemmSplitKOf<GemmPartsOf<f8e4m3, bf16>> {
  static constexpr ScenarioInfo kInfo{"gemm_split_k_e4m3",
                                      ScenarioKind::kClean,
                                      "GEMM whose tiles are sums over CTAs, e4m3 in, bf16 out"};
};

}  // namespace warptwin::scenarios
