/// What the wrong twins of `gemm_swiglu` share: a shape at which each of their faults shows. One
/// CTA computes several tiles of two boxes, so that every ring goes round.

#pragma once

#include "scenarios/gemm_swiglu.hpp"

namespace warptwin::scenarios {

struct GemmSwigluTwin : GemmSwiglu {
  static std::span<const Parameter> parameters() {
    static constexpr Parameter kParameters[] = {
        {"m", "rows of A and D", 384, 1, 1 << 20},
        {"n", "rows of G and of U, columns of D", 96, 1, 1 << 20},
        {"k", "columns of A, G and U", 128, 1, 1 << 20},
        {"bias", "whether there are biases", 1, 0, 1},
        {"tile_m", "rows of a tile of D", 128, 64, 128},
        {"tile_n", "columns of an accumulator: twice those of a tile of D", 192, 32, 256},
        {"tile_k", "columns of A, G and U in one stage", 64, 16, 64},
        {"stages", "stages of the input ring", 2, 1, 64},
        {"accum_stages", "accumulators in tensor memory", 2, 1, 64},
        {"source_stages", "boxes of biases in shared memory", 2, 1, 64},
        {"ctas", "CTAs that share the tiles; 0: one for each", 1, 0, 1 << 16},
    };
    return kParameters;
  }
};

}  // namespace warptwin::scenarios
