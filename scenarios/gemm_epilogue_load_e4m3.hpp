/// Scenario: gemm_epilogue_load of e4m3 operands; C and D are bf16.
///
/// Barriers as in gemm_epilogue_load.
///
/// Expected: clean, as gemm_epilogue_load is.

#pragma once

#include "scenarios/gemm_epilogue_load.hpp"

namespace warptwin::scenarios {

struct GemmEpilogueLoadE4m3 : GemmEpilogueLoadOf<GemmEpilogueLoadPartsOf<f8e4m3, bf16>> {
  static constexpr ScenarioInfo kInfo{"gemm_epilogue_load_e4m3",
                                      ScenarioKind::kClean,
                                      "GEMM whose epilogue adds a matrix, e4m3 in, bf16 out"};
};

}  // namespace warptwin::scenarios
