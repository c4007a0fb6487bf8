/// Scenario: gemm_epilogue_load_2sm of e4m3 operands; C and D are bf16.
///
/// Barriers as in gemm_epilogue_load_2sm.
///
/// Expected: clean, as gemm_epilogue_load_2sm is.

#pragma once

#include "scenarios/gemm_epilogue_load_2sm.hpp"

namespace warptwin::scenarios {

struct GemmEpilogueLoad2smE4m3
    : GemmEpilogueLoadClusterOf<CtaGroup::kTwo, GemmEpilogueLoadPartsOf<f8e4m3, bf16>> {
  static constexpr ScenarioInfo kInfo{
      "gemm_epilogue_load_2sm_e4m3",
      ScenarioKind::kClean,
      "GEMM of pairs whose epilogue adds a matrix, e4m3 in, bf16 out"};
};

}  // namespace warptwin::scenarios
