/// Scenario: gemm_epilogue_load of f16, whose source is bf16: what a layer adds to its product need
/// not have the type that it hands on.
///
/// Barriers as in gemm_epilogue_load.
///
/// A box of C has as many columns as one of D, and rows of its own length: its stage is swizzled by
/// those.
///
/// Expected: clean, as gemm_epilogue_load is.

#pragma once

#include "scenarios/gemm_epilogue_load.hpp"

namespace warptwin::scenarios {

struct GemmEpilogueLoadCBf16F16 : GemmEpilogueLoadOf<GemmEpilogueLoadPartsOf<f16, f16, bf16>> {
  static constexpr ScenarioInfo kInfo{"gemm_epilogue_load_c_bf16_f16",
                                      ScenarioKind::kClean,
                                      "GEMM of f16 whose epilogue adds a matrix of bf16"};
};

}  // namespace warptwin::scenarios
