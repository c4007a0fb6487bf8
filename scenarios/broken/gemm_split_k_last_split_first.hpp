/// Broken: CTAs take the last splits first, those that wait for all the others.
///
/// Where every CTA finds a place on the machine it ends. Where those that wait take all the places,
/// those that they wait for never begin: of these 320 CTAs 160 wait, so `--resident-ctas 161` is
/// clean and 160 is not.
///
/// Expected: DEADLOCK. Twin: gemm_split_k.

#pragma once

#include "scenarios/broken/gemm_split_k_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct LastSplitFirstProblem : GemmSplitKProblem<M, Extents> {
  using Base = GemmSplitKProblem<M, Extents>;
  constexpr SplitWork work(Tile at) const {
    // The fault: the order is turned round.
    return Base::work({at.m, this->grid.n * this->splits - 1 - at.n});
  }
};

template <Machine M, class Extents>
using GemmSplitKLastSplitFirstKernel =
    GemmSplitKKernel<M, Extents, LastSplitFirstProblem<M, Extents>>;

struct GemmSplitKLastSplitFirst : GemmSplitKTwin {
  static constexpr ScenarioInfo kInfo{"gemm_split_k_last_split_first",
                                      ScenarioKind::kBroken,
                                      "the splits that wait come before those they wait for",
                                      "DEADLOCK",
                                      "gemm_split_k"};
  template <Machine M, class Extents>
  using Kernel = GemmSplitKLastSplitFirstKernel<M, Extents>;

  static std::span<const Parameter> parameters() {
    static constexpr Parameter kParameters[] = {
        {"m", "rows of A and D", 20480, 1, 1 << 20},
        {"n", "rows of B, columns of D", 16, 1, 1 << 20},
        {"k", "columns of A and B", 64, 1, 1 << 20},
        {"splits", "parts of K; no more are made than K has tiles", 2, 1, 64},
        {"tile_m", "rows of a tile of D", 128, 64, 128},
        {"tile_n", "columns of a tile of D", 16, 8, 256},
        {"tile_k", "columns of A and B in one stage", 32, 16, 64},
        {"stages", "stages of the input ring", 1, 1, 64},
        {"accum_stages", "accumulators in tensor memory", 1, 1, 64},
        {"source_stages", "boxes of the sum so far in shared memory", 1, 1, 64},
        {"ctas", "CTAs that share the splits of all tiles; 0: one for each", 0, 0, 1 << 16},
        {"lock", "1: a tile's splits hand on one word; 0: each sets its own", 0, 0, 1},
    };
    return kParameters;
  }
};

}  // namespace warptwin::scenarios
