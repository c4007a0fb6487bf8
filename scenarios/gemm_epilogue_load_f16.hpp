/// Scenario: gemm_epilogue_load of f16 operands; C and D are f16.
///
/// Barriers as in gemm_epilogue_load.
///
/// Expected: clean, as gemm_epilogue_load is.

#pragma once

#include "scenarios/gemm_epilogue_load.hpp"

namespace warptwin::scenarios {

struct GemmEpilogueLoadF16 : GemmEpilogueLoadOf<GemmEpilogueLoadPartsOf<f16, f16>> {
  static constexpr ScenarioInfo kInfo{"gemm_epilogue_load_f16",
                                      ScenarioKind::kClean,
                                      "GEMM whose epilogue adds a matrix, f16 in and out"};
};

}  // namespace warptwin::scenarios
