/// What the wrong twins of `gemm_wgmma_pingpong` share: a shape at which each of their faults
/// shows: one CTA computes several tiles, so that the ring goes round and warpgroups take turns.

#pragma once

#include "scenarios/gemm_wgmma_pingpong.hpp"

namespace warptwin::scenarios {

/// `gemm_wgmma_pingpong` whose warpgroups keep to their turns as `Steps` does it.
template <class Steps>
struct GemmWgmmaPingpongTwin : GemmWgmmaPingpong {
  template <Machine M, class Extents>
  using Kernel = GemmWgmmaPingpongKernel<M, Extents, StoredByWarps<GemmParts>, Steps>;

  static std::span<const Parameter> parameters() {
    static const auto kParameters =
        extended(GemmWgmmaPingpong::parameters(),
                 {{"m", "rows of A and D", 256, 1, 1 << 20},
                  {"n", "rows of B, columns of D", 64, 1, 1 << 20},
                  {"k", "columns of A and B", 512, 1, 1 << 20},
                  {"tile_n", "columns of a tile of D", 16, 16, 256},
                  {"stages", "stages of the input ring", 3, 1, 64},
                  {"ctas", "CTAs that share the tiles", 1, 1, 1 << 16}});
    return kParameters;
  }
};

}  // namespace warptwin::scenarios
