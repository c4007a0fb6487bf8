/// Broken: the MMA's descriptor says that the operands are bf16.
///
/// Both types have two bytes, and every copy and barrier is right.
///
/// Expected: RESULT_WRONG. Twin: gemm_small_f16.

#pragma once

#include "scenarios/gemm_small_f16.hpp"

namespace warptwin::scenarios {

struct GemmSmallTakenForBf16 : GemmPartsOf<f16, f16> {
  using A = bf16;  // the fault: f16
  using B = bf16;
};

struct GemmSmallF16ReadAsBf16 : GemmSmallF16 {
  static constexpr ScenarioInfo kInfo{"gemm_small_f16_read_as_bf16",
                                      ScenarioKind::kBroken,
                                      "an MMA takes f16 operands for bf16",
                                      "RESULT_WRONG",
                                      "gemm_small_f16"};
  template <Machine M, class Extents>
  using Kernel = GemmSmallKernel<M, Extents, GemmSmallTakenForBf16>;

  static std::span<const Parameter> parameters() {
    static const auto kParameters = extended(GemmSmallF16::parameters(),
                                             {{"m", "rows of A and D: activations", 16, 1, 1 << 20},
                                              {"n", "columns of D", 128, 1, 1 << 20},
                                              {"k", "columns of A and B", 256, 1, 1 << 20}});
    return kParameters;
  }
};

}  // namespace warptwin::scenarios
