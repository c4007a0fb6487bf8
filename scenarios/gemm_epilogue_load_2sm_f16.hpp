/// Scenario: gemm_epilogue_load_2sm of f16 operands; C and D are f16.
///
/// Barriers as in gemm_epilogue_load_2sm.
///
/// Expected: clean, as gemm_epilogue_load_2sm is.

#pragma once

#include "scenarios/gemm_epilogue_load_2sm.hpp"

namespace warptwin::scenarios {

struct GemmEpilogueLoad2smF16
    : GemmEpilogueLoadClusterOf<CtaGroup::kTwo, GemmEpilogueLoadPartsOf<f16, f16>> {
  static constexpr ScenarioInfo kInfo{
      "gemm_epilogue_load_2sm_f16",
      ScenarioKind::kClean,
      "GEMM of pairs whose epilogue adds a matrix, f16 in, f16 out"};
};

}  // namespace warptwin::scenarios
