/// Scenario: gemm_stream_k_2sm of e4m3 operands; the sums are fp32, D is bf16.
///
/// Barriers as in gemm_stream_k_2sm.
///
/// Expected: clean, as gemm_stream_k_2sm is.

#pragma once

#include "scenarios/gemm_stream_k_2sm.hpp"

namespace warptwin::scenarios {

struct GemmStreamK2smE4m3 : GemmStreamK2smOf<GemmPartsOf<f8e4m3, bf16>> {
  static constexpr ScenarioInfo kInfo{"gemm_stream_k_2sm_e4m3",
                                      ScenarioKind::kClean,
                                      "GEMM by pairs, work shared by steps, e4m3 in, bf16 out"};
};

}  // namespace warptwin::scenarios
