/// What the wrong twins of `gemm_stream_k` share: three CTAs whose shares meet in one tile.

#pragma once

#include "scenarios/gemm_stream_k.hpp"

namespace warptwin::scenarios {

struct GemmStreamKTwin : GemmStreamK {
  static std::span<const Parameter> parameters() {
    static const auto kParameters = extended(GemmStreamK::parameters(),
                                             {{"m", "rows of A and D", 128, 1, 1 << 20},
                                              {"n", "rows of B, columns of D", 64, 1, 1 << 20},
                                              {"k", "columns of A and B", 448, 1, 1 << 20},
                                              {"tile_n", "columns of a tile of D", 64, 8, 256},
                                              {"stages", "stages of the input ring", 2, 1, 64}});
    return kParameters;
  }
};

}  // namespace warptwin::scenarios
