/// Scenario: gemm_epilogue_load_clc of e4m3 operands; C and D are bf16.
///
/// Barriers as in gemm_epilogue_load_clc.
///
/// Expected: clean, as gemm_epilogue_load_clc is.

#pragma once

#include "scenarios/gemm_epilogue_load_clc.hpp"

namespace warptwin::scenarios {

struct GemmEpilogueLoadClcE4m3
    : GemmEpilogueLoadPersistentOf<CtaGroup::kOne, GemmEpilogueLoadPartsOf<f8e4m3, bf16>> {
  static constexpr ScenarioInfo kInfo{
      "gemm_epilogue_load_clc_e4m3",
      ScenarioKind::kClean,
      "GEMM of CTAs that claim tiles, whose epilogue adds a matrix, e4m3 in, bf16 out"};
};

}  // namespace warptwin::scenarios
