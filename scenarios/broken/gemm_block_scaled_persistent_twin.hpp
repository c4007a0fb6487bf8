/// What the wrong twins of `gemm_block_scaled_persistent` share: a shape at which each of their
/// faults shows. The machine has room for one pair, which claims the other tiles; the two CTAs'
/// halves of B have blocks of scale factors of their own.

#pragma once

#include "scenarios/gemm_block_scaled_persistent.hpp"

namespace warptwin::scenarios {

struct GemmBlockScaledPersistentTwin : GemmBlockScaledPersistent {
  static std::span<const Parameter> parameters() {
    static const auto kParameters = extended(
        GemmBlockScaledPersistent::parameters(),
        {{"n", "rows of B, columns of D", 256, 1, 1 << 20},
         {"k", "columns of A and B", 768, 32, 1 << 20},
         {"tile_n", "columns of an MMA's tile of D", 256, 32, 256},
         {"stages", "stages of the input ring", 3, 1, 64},
         {"accum_stages", "accumulators in tensor memory", 1, 1, 64},
         {"resident", "clusters the simulated machine has room for; 0: all its SMs", 1, 0, 65536}});
    return kParameters;
  }
};

}  // namespace warptwin::scenarios
