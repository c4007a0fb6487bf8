/// Broken: the epilogue frees the input stage first, and reads its factors of A after that.
///
/// The next copy may fill the stage while they are read.
///
/// Expected: SMEM_RACE. Twin: gemm_blockwise_fp8.

#pragma once

#include "scenarios/broken/gemm_blockwise_fp8_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct GemmBlockwiseFp8ScalesReadLateKernel : GemmBlockwiseFp8Kernel<M, Extents> {
  using Base = GemmBlockwiseFp8Kernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;
  using Input = typename Base::Input;
  using Accum = typename Base::Accum;

  static constexpr void epilogue(M& machine, const Problem& problem, const Storage& smem) {
    blockwise_epilogue<Base>(
        machine, problem, smem, [&](auto& warp, auto& input, auto& sum, Tile, std::uint32_t) {
          auto step = warp.template per_k_stage<typename Base::ReadsScales>(input);
          typename ScaledSum<M>::RowFactors rows;
          const auto tiles = step.payload();
          step.arrive_input();  // the fault: the factors are read after it
          sum.load_factors(rows, tiles.a_scales_tile().tile);
          sum.add(step.output(), problem.extents.tile_n, rows, [](std::uint32_t) { return 1.0F; });
          step.release_output();
        });
  }
};

struct GemmBlockwiseFp8ScalesReadLate : GemmBlockwiseFp8Twin {
  static constexpr ScenarioInfo kInfo{"gemm_blockwise_fp8_scales_read_late",
                                      ScenarioKind::kBroken,
                                      "the factors of A are read after their stage was freed",
                                      "SMEM_RACE",
                                      "gemm_blockwise_fp8"};
  template <Machine M, class Extents>
  using Kernel = GemmBlockwiseFp8ScalesReadLateKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
