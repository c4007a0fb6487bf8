/// Broken: every share has as many steps as any other, though they do not divide the steps evenly.
///
/// Nobody has the last steps, so nobody ends the last tile: its sum stays in the workspace.
///
/// Expected: RESULT_WRONG. Twin: gemm_stream_k.

#pragma once

#include "scenarios/broken/gemm_stream_k_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct RestLeftOutProblem : GemmStreamKProblem<M, Extents> {
  void set(const ParameterSet& p,
           const Extents& e,
           std::span<const typename M::TensorMap> maps,
           std::span<const GlobalAddress> tensors) {
    GemmStreamKProblem<M, Extents>::set(p, e, maps, tensors);
    this->shares.one_more = 0;  // the fault
  }
};

struct GemmStreamKRestLeftOut : GemmStreamKTwin {
  static constexpr ScenarioInfo kInfo{"gemm_stream_k_rest_left_out",
                                      ScenarioKind::kBroken,
                                      "shares that leave the last steps along K to nobody",
                                      "RESULT_WRONG",
                                      "gemm_stream_k"};
  template <Machine M, class Extents>
  using Kernel = GemmSplitKKernel<M, Extents, RestLeftOutProblem<M, Extents>>;
};

}  // namespace warptwin::scenarios
