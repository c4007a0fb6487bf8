/// Broken: the MMA warp frees an operand before it issues the MMAs that read it.
///
/// The commit covers the MMAs before it: the transform warps may store the next operand while these
/// read.
///
/// Expected: TMEM_WAR. Twin: gemm_mixed_input.

#pragma once

#include "scenarios/broken/gemm_mixed_input_twin.hpp"

namespace warptwin::scenarios {

struct MixedInputFreedEarly : MixedInputSteps {
  template <class Element>
  static constexpr void multiply(const auto& accum,
                                 auto&& operand,
                                 const SharedTile<Element>& b,
                                 Accumulate accumulate) {
    const auto a = operand.template operand<Element>();
    std::move(operand).release();  // the fault: before its MMAs
    accum.multiply(a, b, accumulate);
  }
};

struct GemmMixedInputOperandFreedEarly : GemmMixedInputTwin<MixedInputFreedEarly> {
  static constexpr ScenarioInfo kInfo{"gemm_mixed_input_operand_freed_early",
                                      ScenarioKind::kBroken,
                                      "an operand in tensor memory is freed before its MMAs",
                                      "TMEM_WAR",
                                      "gemm_mixed_input"};
};

}  // namespace warptwin::scenarios
