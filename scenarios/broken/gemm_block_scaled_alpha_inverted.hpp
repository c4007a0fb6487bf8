/// Broken: alpha is taken as what D is divided by.
///
/// A tensor's scale is what its elements were divided by before they were rounded, or what they are
/// multiplied by afterwards; with a scale of 1 nobody sees which.
///
/// Expected: RESULT_WRONG. Twin: gemm_block_scaled_alpha.

#pragma once

#include "scenarios/broken/gemm_block_scaled_twin.hpp"
#include "scenarios/gemm_block_scaled_alpha.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct GemmBlockScaledAlphaInvertedKernel
    : AlphaKernel<M, Extents, GemmBlockScaledKernel<M, Extents>> {
  using Base = AlphaKernel<M, Extents, GemmBlockScaledKernel<M, Extents>>;
  using Problem = typename Base::Problem;

  static Problem problem(const ParameterSet& p,
                         const Extents& e,
                         std::span<const typename M::TensorMap> maps,
                         std::span<const GlobalAddress> tensors) {
    Problem problem = Base::problem(p, e, maps, tensors);
    problem.function.alpha = 1.0F / problem.function.alpha;  // the fault
    return problem;
  }
};

struct GemmBlockScaledAlphaInverted : AlphaOf<GemmBlockScaledTwin> {
  static constexpr ScenarioInfo kInfo{"gemm_block_scaled_alpha_inverted",
                                      ScenarioKind::kBroken,
                                      "D is divided by alpha",
                                      "RESULT_WRONG",
                                      "gemm_block_scaled_alpha"};
  template <Machine M, class Extents>
  using Kernel = GemmBlockScaledAlphaInvertedKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
