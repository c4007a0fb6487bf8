/// What the wrong twins of `gemm_grouped_1d2d` share: a small shape at which each of their faults
/// shows. Pairs of CTAs, groups of one tile and of two; one ends within the leader's half of it.

#pragma once

#include "scenarios/gemm_grouped_1d2d.hpp"

namespace warptwin::scenarios {

struct GemmGrouped1d2dTwin : GemmGrouped1d2d {
  static std::span<const Parameter> parameters() {
    static constexpr Parameter kParameters[] = {
        {"m0", "rows of group 0", 300, 0, 1 << 20},
        {"m1", "rows of group 1", 0, 0, 1 << 20},
        {"m2", "rows of group 2", 65, 0, 1 << 20},
        {"m3", "rows of group 3", 200, 0, 1 << 20},
        {"work", "which groups have their rows, one bit each", 15, 0, 15},
        {"n", "rows of each B, columns of each D", 32, 1, 1 << 20},
        {"k", "columns of A and B", 384, 1, 1 << 20},
        {"tile_m", "rows of an MMA's tile of D", 256, 64, 256},
        {"tile_n", "columns of an MMA's tile of D", 32, 8, 256},
        {"tile_k", "columns of A and B in one stage", 128, 32, 128},
        {"stages", "stages of the input ring", 2, 1, 64},
        {"accum_stages", "accumulators in tensor memory", 2, 1, 64},
        {"cta_group", "CTAs that share an MMA", 2, 1, 2},
        {"cluster_m", "CTAs of a cluster along M", 2, 1, 16},
        {"cluster_n", "CTAs of a cluster along N", 1, 1, 8},
    };
    return kParameters;
  }
};

}  // namespace warptwin::scenarios
