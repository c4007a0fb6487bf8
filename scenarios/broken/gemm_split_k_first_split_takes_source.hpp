/// Broken: the first split takes boxes of the sum so far as the others do.
///
/// There is none: the epilogue-load warp brings nothing for it, and the two are out of step.
///
/// Expected: DEADLOCK. Twin: gemm_split_k.

#pragma once

#include "scenarios/broken/gemm_split_k_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct GemmSplitKFirstSplitTakesSourceKernel : GemmSplitKKernel<M, Extents> {
  using Base = GemmSplitKKernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;
  using Work = typename Base::Work;

  struct Steps : Base::Steps {
    static constexpr bool adds(const Work&) { return true; }  // the fault: also of the first split
  };

  static constexpr void epilogue(M& machine, const Problem& problem, const Storage& smem) {
    Base::template epilogue_by<Steps>(machine, problem, smem);
  }
};

struct GemmSplitKFirstSplitTakesSource : GemmSplitKTwin {
  static constexpr ScenarioInfo kInfo{"gemm_split_k_first_split_takes_source",
                                      ScenarioKind::kBroken,
                                      "the first split waits for a sum that nobody brings",
                                      "DEADLOCK",
                                      "gemm_split_k"};
  template <Machine M, class Extents>
  using Kernel = GemmSplitKFirstSplitTakesSourceKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
