/// Broken: every split waits until the first one has stored, and not for the one before it.
///
/// With two splits it is the same; the third one adds to a sum that the second has not stored yet.
///
/// Expected: GMEM_RAW_NO_WAIT. Twin: gemm_split_k.

#pragma once

#include "scenarios/broken/gemm_split_k_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct WaitsForFirstProblem : GemmSplitKProblem<M, Extents> {
  constexpr SplitWork work(Tile at) const {
    SplitWork work = GemmSplitKProblem<M, Extents>::work(at);
    work.before = this->flag(0, work.tile);  // the fault: not the word of the split before
    return work;
  }
};

template <Machine M, class Extents>
using GemmSplitKWaitsForFirstKernel =
    GemmSplitKKernel<M, Extents, WaitsForFirstProblem<M, Extents>>;

struct GemmSplitKWaitsForFirst : GemmSplitKTwin {
  static constexpr ScenarioInfo kInfo{"gemm_split_k_waits_for_first",
                                      ScenarioKind::kBroken,
                                      "a split waits for the first one, not for the one before it",
                                      "GMEM_RAW_NO_WAIT",
                                      "gemm_split_k"};
  template <Machine M, class Extents>
  using Kernel = GemmSplitKWaitsForFirstKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
