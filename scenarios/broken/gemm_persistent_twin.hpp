/// What the wrong twins of `gemm_persistent` share: a shape at which each of their faults shows.
/// The machine has room for one cluster of one pair, which claims all the other tiles.

#pragma once

#include "scenarios/gemm_persistent.hpp"

namespace warptwin::scenarios {

struct GemmPersistentTwin : GemmPersistent {
  static std::span<const Parameter> parameters() {
    static constexpr Parameter kParameters[] = {
        {"m", "rows of A and D", 512, 1, 1 << 20},
        {"n", "rows of B, columns of D", 48, 1, 1 << 20},
        {"k", "columns of A and B", 64, 1, 1 << 20},
        {"tile_m", "rows of a pair's tile of D", 256, 64, 256},
        {"tile_n", "columns of a pair's tile of D", 16, 8, 256},
        {"tile_k", "columns of A and B in one stage", 64, 16, 64},
        {"stages", "stages of the input ring", 3, 1, 64},
        {"accum_stages", "accumulators in tensor memory", 2, 1, 64},
        {"clc_stages", "responses in shared memory; 0: a cluster has its own tile alone", 2, 0, 64},
        {"cluster_m", "CTAs of a cluster along M: pairs", 2, 2, 16},
        {"cluster_n", "CTAs of a cluster along N", 1, 1, 8},
        {"raster", "way in which tiles are counted: 0 along M, 1 along N", 0, 0, 1},
        {"swizzle", "clusters' tiles along N in a strip; 0: no strips", 0, 0, 64},
        {"resident", "clusters the simulated machine has room for; 0: all its SMs", 1, 0, 1 << 16},
    };
    return kParameters;
  }
};

}  // namespace warptwin::scenarios
