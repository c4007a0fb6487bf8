/// Scenario: gemm_stream_k_2sm of f16 operands; the sums are fp32, D is f16.
///
/// Barriers as in gemm_stream_k_2sm.
///
/// Expected: clean, as gemm_stream_k_2sm is.

#pragma once

#include "scenarios/gemm_stream_k_2sm.hpp"

namespace warptwin::scenarios {

struct GemmStreamK2smF16 : GemmStreamK2smOf<GemmPartsOf<f16, f16>> {
  static constexpr ScenarioInfo kInfo{
      "gemm_stream_k_2sm_f16", ScenarioKind::kClean, "GEMM by pairs, work shared by steps, f16"};
};

}  // namespace warptwin::scenarios
