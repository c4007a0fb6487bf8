/// What the wrong twins of `gemm_block_scaled` share: a shape at which each of their faults shows.
/// One CTA computes several tiles, so that every ring goes round.

#pragma once

#include "scenarios/gemm_block_scaled.hpp"

namespace warptwin::scenarios {

struct GemmBlockScaledTwin : GemmBlockScaled {
  static std::span<const Parameter> parameters() {
    static constexpr Parameter kParameters[] = {
        {"m", "rows of A and D", 256, 1, 1 << 20},
        {"n", "rows of B, columns of D", 128, 1, 1 << 20},
        {"k", "columns of A and B", 768, 32, 1 << 20},
        {"format", "0: MXFP8, 1: MXFP4, 2: NVFP4", 0, 0, 2},
        {"tile_m", "rows of a tile of D", 128, 128, 128},
        {"tile_n", "columns of a tile of D", 64, 32, 256},
        {"tile_k", "columns of A and B in one stage", 128, 64, 256},
        {"stages", "stages of the input ring", 4, 1, 64},
        {"accum_stages", "accumulators in tensor memory", 2, 1, 64},
        {"ctas", "CTAs that share the tiles; 0: one for each", 1, 0, 1 << 16},
    };
    return kParameters;
  }
};

}  // namespace warptwin::scenarios
