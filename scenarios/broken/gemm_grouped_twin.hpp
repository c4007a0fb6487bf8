/// What the wrong twins of `gemm_grouped` share: a shape at which each of their faults shows. One
/// CTA computes six tiles of three groups, so that every ring goes round; one group is empty.

#pragma once

#include "scenarios/gemm_grouped.hpp"

namespace warptwin::scenarios {

template <std::int64_t kGroup>
struct GemmGroupedTwinOf : GemmGrouped {
  static std::span<const Parameter> parameters() {
    static constexpr Parameter kParameters[] = {
        {"m0", "rows of group 0", 200, 0, 1 << 20},
        {"m1", "rows of group 1", 1, 0, 1 << 20},
        {"m2", "rows of group 2", 300, 0, 1 << 20},
        {"m3", "rows of group 3", 65, 0, 1 << 20},
        {"work", "which groups have their rows, one bit each", 13, 0, 15},
        {"n", "rows of each B, columns of each D", 32, 1, 1 << 20},
        {"k", "columns of A and B", 192, 1, 1 << 20},
        {"tile_m", "rows of an MMA's tile of D", 128 * kGroup, 64, 256},
        {"tile_n", "columns of an MMA's tile of D", 32, 8, 256},
        {"tile_k", "columns of A and B in one stage", 64, 16, 64},
        {"stages", "stages of the input ring", 2, 1, 64},
        {"accum_stages", "accumulators in tensor memory", 2, 1, 64},
        {"cta_group", "CTAs that share an MMA", kGroup, kGroup, kGroup},
        {"cluster_m", "CTAs of a cluster along M; 0: those of an MMA", 0, 0, 16},
        {"cluster_n", "CTAs of a cluster along N", 1, 1, 8},
        {"ctas", "CTAs, or pairs, that share the tiles; 0: one for each", 1, 0, 1 << 16},
    };
    return kParameters;
  }
};
using GemmGroupedTwin = GemmGroupedTwinOf<1>;
using GemmGroupedPairTwin = GemmGroupedTwinOf<2>;

}  // namespace warptwin::scenarios
