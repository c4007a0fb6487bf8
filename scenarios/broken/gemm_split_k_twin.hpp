/// What the wrong twins of `gemm_split_k` share: a shape at which each of their faults shows. Two
/// CTAs compute three splits of three tiles of two boxes.

#pragma once

#include "scenarios/gemm_split_k.hpp"

namespace warptwin::scenarios {

struct GemmSplitKTwin : GemmSplitK {
  static std::span<const Parameter> parameters() {
    static constexpr Parameter kParameters[] = {
        {"m", "rows of A and D", 384, 1, 1 << 20},
        {"n", "rows of B, columns of D", 64, 1, 1 << 20},
        {"k", "columns of A and B", 320, 1, 1 << 20},
        {"splits", "parts of K; no more are made than K has tiles", 3, 1, 64},
        {"tile_m", "rows of a tile of D", 128, 64, 128},
        {"tile_n", "columns of a tile of D", 64, 8, 256},
        {"tile_k", "columns of A and B in one stage", 64, 16, 64},
        {"stages", "stages of the input ring", 2, 1, 64},
        {"accum_stages", "accumulators in tensor memory", 2, 1, 64},
        {"source_stages", "boxes of the sum so far in shared memory", 2, 1, 64},
        {"ctas", "CTAs that share the splits of all tiles; 0: one for each", 2, 0, 1 << 16},
        {"lock", "1: a tile's splits hand on one word; 0: each sets its own", 0, 0, 1},
    };
    return kParameters;
  }
};

}  // namespace warptwin::scenarios
