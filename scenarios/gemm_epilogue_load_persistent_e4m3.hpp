/// Scenario: gemm_epilogue_load_persistent of e4m3 operands; C and D are bf16.
///
/// Barriers as in gemm_epilogue_load_persistent.
///
/// Expected: clean, as gemm_epilogue_load_persistent is.

#pragma once

#include "scenarios/gemm_epilogue_load_persistent.hpp"

namespace warptwin::scenarios {

struct GemmEpilogueLoadPersistentE4m3
    : GemmEpilogueLoadPersistentOf<CtaGroup::kTwo, GemmEpilogueLoadPartsOf<f8e4m3, bf16>> {
  static constexpr ScenarioInfo kInfo{
      "gemm_epilogue_load_persistent_e4m3",
      ScenarioKind::kClean,
      "GEMM of pairs that claim tiles, whose epilogue adds a matrix, e4m3 in, bf16 out"};
};

}  // namespace warptwin::scenarios
