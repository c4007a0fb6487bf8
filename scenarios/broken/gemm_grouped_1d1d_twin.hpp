/// What the wrong twins of `gemm_grouped_1d1d` share: a shape at which each of their faults shows.
/// One CTA computes six tiles of three groups, so that every ring goes round; one group is empty.

#pragma once

#include "scenarios/gemm_grouped_1d1d.hpp"

namespace warptwin::scenarios {

struct GemmGrouped1d1dTwin : GemmGrouped1d1d {
  static std::span<const Parameter> parameters() {
    static constexpr Parameter kParameters[] = {
        {"m0", "rows of group 0", 200, 0, 1 << 20},
        {"m1", "rows of group 1", 1, 0, 1 << 20},
        {"m2", "rows of group 2", 300, 0, 1 << 20},
        {"m3", "rows of group 3", 65, 0, 1 << 20},
        {"work", "which groups have their rows, one bit each", 13, 0, 15},
        {"n", "rows of each B, columns of each D", 32, 1, 1 << 20},
        {"k", "columns of A and B", 384, 32, 1 << 20},
        {"format", "0: MXFP8, 1: MXFP4, 2: NVFP4", 0, 0, 2},
        {"tile_m", "rows of a tile of D", 128, 128, 128},
        {"tile_n", "columns of a tile of D", 32, 8, 32},
        {"tile_k", "columns of A and B in one stage", 128, 64, 256},
        {"stages", "stages of the input ring, and of the factors'", 2, 1, 64},
        {"accum_stages", "accumulators in tensor memory", 2, 1, 64},
        {"ctas", "CTAs that share the tiles; 0: one for each", 1, 0, 1 << 16},
    };
    return kParameters;
  }
};

}  // namespace warptwin::scenarios
