/// What the wrong twins of `gemm_epilogue_load` share: a shape at which each of their faults shows.
/// One CTA computes several tiles of one k step and two boxes, so that every ring goes round.

#pragma once

#include "scenarios/gemm_epilogue_load.hpp"

namespace warptwin::scenarios {

struct GemmEpilogueLoadTwin : GemmEpilogueLoad {
  static std::span<const Parameter> parameters() {
    static constexpr Parameter kParameters[] = {
        {"m", "rows of A, C and D", 512, 1, 1 << 20},
        {"n", "rows of B, columns of C and D", 256, 1, 1 << 20},
        {"k", "columns of A and B", 64, 1, 1 << 20},
        {"beta", "factor of C", 2, -64, 64},
        {"tile_m", "rows of a tile of D", 128, 64, 128},
        {"tile_n", "columns of a tile of D", 128, 8, 256},
        {"tile_k", "columns of A and B in one stage", 64, 16, 64},
        {"stages", "stages of the input ring", 4, 1, 64},
        {"accum_stages", "accumulators in tensor memory", 2, 1, 64},
        {"source_stages", "boxes of C in shared memory", 2, 1, 64},
        {"ctas", "CTAs that share the tiles; 0: one for each", 1, 0, 1 << 16},
    };
    return kParameters;
  }
};

}  // namespace warptwin::scenarios
