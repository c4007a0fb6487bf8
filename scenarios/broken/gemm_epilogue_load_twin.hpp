/// What the wrong twins of `gemm_epilogue_load` share: a shape at which each of their faults shows.
/// One CTA computes several tiles of one k step and two boxes, so that every ring goes round.

#pragma once

#include <array>

#include "scenarios/gemm_epilogue_load.hpp"

namespace warptwin::scenarios {

constexpr auto gemm_epilogue_load_twin_parameters(EpilogueSource source) {
  return std::array{
      Parameter{"m", "rows of A, C and D", 512, 1, 1 << 20},
      Parameter{"n", "rows of B, columns of C and D", 256, 1, 1 << 20},
      Parameter{"k", "columns of A and B", 64, 1, 1 << 20},
      Parameter{"source",
                "0: C box by box, 1: C tile by tile, 2: biases",
                static_cast<std::int64_t>(source),
                0,
                2},
      Parameter{"beta", "factor of C; biases have none", 2, -64, 64},
      Parameter{"tile_m", "rows of a tile of D", 128, 64, 128},
      Parameter{"tile_n", "columns of a tile of D", 128, 8, 256},
      Parameter{"tile_k", "columns of A and B in one stage", 64, 16, 64},
      Parameter{"stages", "stages of the input ring", 4, 1, 64},
      Parameter{"accum_stages", "accumulators in tensor memory", 2, 1, 64},
      Parameter{"source_stages", "boxes or tiles of C in shared memory", 2, 1, 64},
      Parameter{"ctas", "CTAs that share the tiles; 0: one for each", 1, 0, 1 << 16},
  };
}

struct GemmEpilogueLoadTwin : GemmEpilogueLoad {
  static std::span<const Parameter> parameters() {
    static constexpr auto kParameters = gemm_epilogue_load_twin_parameters(EpilogueSource::kBoxes);
    return kParameters;
  }
};

}  // namespace warptwin::scenarios
