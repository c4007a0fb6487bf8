/// Broken: the kernel takes C for what D is, f16, and the launch has a C of bf16.
///
/// Both are of two bytes: every copy fits, and the numbers are others.
///
/// Expected: RESULT_WRONG. Twin: gemm_epilogue_load_c_bf16_f16.

#pragma once

#include "scenarios/gemm_epilogue_load_c_bf16_f16.hpp"

namespace warptwin::scenarios {

struct GemmEpilogueLoadCReadAsD : GemmEpilogueLoadCBf16F16 {
  static constexpr ScenarioInfo kInfo{"gemm_epilogue_load_c_read_as_d",
                                      ScenarioKind::kBroken,
                                      "a source of bf16 is read as f16, the result's type",
                                      "RESULT_WRONG",
                                      "gemm_epilogue_load_c_bf16_f16"};
  using KernelParts = GemmEpilogueLoadPartsOf<f16, f16>;  // the fault: C is bf16
  template <Machine M, class Extents>
  using Kernel = GemmEpilogueLoadKernel<M, Extents, KernelParts>;

  static std::span<const Parameter> parameters() {
    static const auto kParameters = extended(GemmEpilogueLoadCBf16F16::parameters(),
                                             {{"m", "rows of A, C and D", 128, 1, 1 << 20},
                                              {"n", "columns of C and D", 128, 1, 1 << 20},
                                              {"k", "columns of A and B", 128, 1, 1 << 20}});
    return kParameters;
  }
};

}  // namespace warptwin::scenarios
