/// What the wrong twins of gemm_wgmma_unaligned share: a small shape, whose ring goes round, how
/// stages are handed over and taken, which a twin replaces.

#pragma once

#include "scenarios/gemm_wgmma_unaligned.hpp"

namespace warptwin::scenarios {

template <class Filled>
struct GemmWgmmaUnalignedTwin : GemmWgmmaUnaligned {
  template <Machine M, class Extents>
  using Kernel = GemmWgmmaUnalignedKernel<M, Extents, GemmParts, Filled>;

  static std::span<const Parameter> parameters() {
    static const auto kParameters = extended(GemmWgmmaUnaligned::parameters(),
                                             {{"m", "rows of A and D", 64, 1, 1 << 20},
                                              {"n", "rows of B, columns of D", 16, 1, 1 << 20},
                                              {"k", "columns of A and B", 180, 1, 1 << 20},
                                              {"tile_m", "rows of a tile of D", 64, 64, 128},
                                              {"tile_n", "columns of a tile of D", 16, 16, 256},
                                              {"stages", "stages of the input ring", 2, 1, 64}});
    return kParameters;
  }
};

}  // namespace warptwin::scenarios
