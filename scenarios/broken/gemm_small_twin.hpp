/// What the wrong twins of `gemm_small` share: a small shape at which each of their faults shows.
/// One CTA computes several tiles, each of more groups of k steps than the ring has stages.

#pragma once

#include "scenarios/gemm_small.hpp"

namespace warptwin::scenarios {

struct GemmSmallTwin : GemmSmall {
  static std::span<const Parameter> parameters() {
    static constexpr Parameter kParameters[] = {
        {"m", "rows of A and D: activations", 16, 1, 1 << 20},
        {"n", "rows of B: weights; columns of D", 256, 1, 1 << 20},
        {"k", "columns of A and B", 640, 1, 1 << 20},
        {"tile_m", "rows of an MMA's tile", 128, 64, 128},
        {"tile_n", "columns of an MMA's tile", 16, 8, 64},
        {"tile_k", "columns of A and B in one k step", 64, 16, 64},
        {"stages", "stages of the input ring", 3, 1, 64},
        {"k_group", "k steps in one stage", 2, 1, 4},
        {"accum_stages", "accumulators in tensor memory", 2, 1, 64},
        {"swap_ab", "1: the weights are the MMA's rows", 1, 0, 1},
        {"prefetch", "stages whose weights come before the grid before ends", 3, 0, 64},
        {"cluster_m", "CTAs of a cluster along the MMA's rows", 1, 1, 16},
        {"cluster_n", "CTAs of a cluster along the MMA's columns", 1, 1, 16},
        {"clusters", "clusters that share the tiles; 0: one for each", 1, 0, 1 << 16},
    };
    return kParameters;
  }
};

}  // namespace warptwin::scenarios
