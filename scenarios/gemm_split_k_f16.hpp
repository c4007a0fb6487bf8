/// Scenario: gemm_split_k of f16 operands; the sums are fp32, D is f16.
///
/// Barriers as in gemm_split_k.
///
/// Expected: clean, as gemm_split_k is.

#pragma once

#include "scenarios/gemm_split_k.hpp"

namespace warptwin::scenarios {

struct GemmSplitKF16 : GemmSplitKOf<GemmPartsOf<f16, f16>> {
  static constexpr ScenarioInfo kInfo{"gemm_split_k_f16",
                                      ScenarioKind::kClean,
                                      "GEMM whose tiles are sums over CTAs, f16 in, f16 out"};
};

}  // namespace warptwin::scenarios
