/// Scenario: gemm_epilogue_load_clc of f16 operands; C and D are f16.
///
/// Barriers as in gemm_epilogue_load_clc.
///
/// Expected: clean, as gemm_epilogue_load_clc is.

#pragma once

#include "scenarios/gemm_epilogue_load_clc.hpp"

namespace warptwin::scenarios {

struct GemmEpilogueLoadClcF16
    : GemmEpilogueLoadPersistentOf<CtaGroup::kOne, GemmEpilogueLoadPartsOf<f16, f16>> {
  static constexpr ScenarioInfo kInfo{
      "gemm_epilogue_load_clc_f16",
      ScenarioKind::kClean,
      "GEMM of CTAs that claim tiles, whose epilogue adds a matrix, f16 in, f16 out"};
};

}  // namespace warptwin::scenarios
