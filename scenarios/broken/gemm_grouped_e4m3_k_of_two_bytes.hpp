/// Broken: K is counted as if an element of e4m3 had two bytes.
///
/// Each step is whole, and there are half as many: all barriers agree, and the end of K is missing.
///
/// Expected: RESULT_WRONG. Twin: gemm_grouped_e4m3.

#pragma once

#include "scenarios/gemm_grouped_e4m3.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct GemmGroupedE4m3KOfTwoBytesKernel : GemmGroupedE4m3::Kernel<M, Extents> {
  using Base = GemmGroupedE4m3::Kernel<M, Extents>;
  using Problem = typename Base::Problem;

  static Problem problem(const ParameterSet& p,
                         const Extents& e,
                         std::span<const typename M::TensorMap> maps,
                         std::span<const GlobalAddress> tensors) {
    Problem problem = Base::problem(p, e, maps, tensors);
    problem.k_tiles = ceil_div(p.u32("k"), 2 * e.tile_k);  // the fault: a row is tile_k elements
    return problem;
  }
};

struct GemmGroupedE4m3KOfTwoBytes : GemmGroupedE4m3 {
  static constexpr ScenarioInfo kInfo{"gemm_grouped_e4m3_k_of_two_bytes",
                                      ScenarioKind::kBroken,
                                      "K is counted in elements of two bytes",
                                      "RESULT_WRONG",
                                      "gemm_grouped_e4m3"};
  template <Machine M, class Extents>
  using Kernel = GemmGroupedE4m3KOfTwoBytesKernel<M, Extents>;

  static std::span<const Parameter> parameters() {
    static const auto kParameters =
        extended(GemmGroupedE4m3::parameters(),
                 {{"work", "which groups have their rows, one bit each", 9, 0, 15},
                  {"n", "rows of each B, columns of each D", 128, 1, 1 << 20},
                  {"k", "columns of A and B", 512, 1, 1 << 20}});
    return kParameters;
  }
};

}  // namespace warptwin::scenarios
