/// What the wrong twins of `gemm_2sm` share: a shape at which each of their faults shows. One pair
/// computes several tiles, so that every ring goes round.

#pragma once

#include "scenarios/gemm_2sm.hpp"

namespace warptwin::scenarios {

struct Gemm2smTwin : Gemm2sm {
  static std::span<const Parameter> parameters() {
    static constexpr Parameter kParameters[] = {
        {"m", "rows of A and D", 512, 1, 1 << 20},
        {"n", "rows of B, columns of D", 48, 1, 1 << 20},
        {"k", "columns of A and B", 384, 1, 1 << 20},
        {"tile_m", "rows of a pair's tile of D", 256, 64, 256},
        {"tile_n", "columns of a pair's tile of D", 16, 8, 256},
        {"tile_k", "columns of A and B in one stage", 64, 16, 64},
        {"stages", "stages of the input ring", 4, 1, 64},
        {"accum_stages", "accumulators in tensor memory", 2, 1, 64},
        {"cluster_m", "CTAs of a cluster along M: pairs", 2, 2, 16},
        {"cluster_n", "CTAs of a cluster along N", 1, 1, 8},
        {"clusters", "clusters that share the tiles; 0: one for each", 1, 0, 1 << 16},
    };
    return kParameters;
  }
};

}  // namespace warptwin::scenarios
