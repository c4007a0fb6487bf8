/// Broken: a row's largest magnitude is begun anew with each box, and so is that of the last one.
///
/// Expected: RESULT_WRONG. Twin: gemm_fused.

#pragma once

#include "scenarios/gemm_fused.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct GemmFusedMaximaOfLastBoxKernel : GemmFused::Kernel<M, Extents> {
  using Base = GemmFused::Kernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;
  using Maxima = typename Base::Maxima;

  struct Steps : Base::Steps {
    static constexpr void take(Maxima& maxima, AccumTile<M>& box, std::uint32_t columns) {
      maxima.begin();  // the fault: once for the tile
      maxima.take(box, columns);
    }
  };

  static constexpr void epilogue(M& machine, const Problem& problem, const Storage& smem) {
    Base::template store_tiles<Steps>(machine, problem, smem, problem.tiles(machine));
  }
};

struct GemmFusedMaximaOfLastBox : GemmFused {
  static constexpr ScenarioInfo kInfo{"gemm_fused_maxima_of_last_box",
                                      ScenarioKind::kBroken,
                                      "a row's largest magnitude is that of its last box",
                                      "RESULT_WRONG",
                                      "gemm_fused"};
  template <Machine M, class Extents>
  using Kernel = GemmFusedMaximaOfLastBoxKernel<M, Extents>;

  static std::span<const Parameter> parameters() {
    static constexpr Parameter kParameters[] = {
        {"m", "rows of A, C and D", 128, 1, 1 << 20},
        {"n", "rows of B, columns of C and D", 256, 1, 1 << 20},
        {"k", "columns of A and B", 256, 1, 1 << 20},
        {"source", "0: C box by box", 0, 0, 0},
        GemmFusedParts::kFactor,
        {"tile_m", "rows of a tile of D", 128, 128, 128},
        {"tile_n", "columns of a tile of D", 128, 32, 256},
        {"tile_k", "columns of A and B in one stage", 128, 32, 128},
        {"stages", "stages of the input ring", 4, 1, 64},
        {"accum_stages", "accumulators in tensor memory", 2, 1, 64},
        {"source_stages", "boxes of C in shared memory", 2, 1, 64},
        {"ctas", "CTAs that share the tiles; 0: one for each", 1, 0, 1 << 16},
    };
    return kParameters;
  }
};

}  // namespace warptwin::scenarios
