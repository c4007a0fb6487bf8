/// Scenario: gemm_epilogue_load_persistent of f16 operands; C and D are f16.
///
/// Barriers as in gemm_epilogue_load_persistent.
///
/// Expected: clean, as gemm_epilogue_load_persistent is.

#pragma once

#include "scenarios/gemm_epilogue_load_persistent.hpp"

namespace warptwin::scenarios {

struct GemmEpilogueLoadPersistentF16
    : GemmEpilogueLoadPersistentOf<CtaGroup::kTwo, GemmEpilogueLoadPartsOf<f16, f16>> {
  static constexpr ScenarioInfo kInfo{
      "gemm_epilogue_load_persistent_f16",
      ScenarioKind::kClean,
      "GEMM of pairs that claim tiles, whose epilogue adds a matrix, f16 in, f16 out"};
};

}  // namespace warptwin::scenarios
