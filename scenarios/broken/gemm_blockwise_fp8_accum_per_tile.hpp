/// Broken: the epilogue takes one accumulator a tile, as in a kernel without block factors.
///
/// The MMA hands over one for each k step, and waits for the second to be freed.
///
/// Expected: DEADLOCK. Twin: gemm_blockwise_fp8.

#pragma once

#include "scenarios/broken/gemm_blockwise_fp8_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct GemmBlockwiseFp8AccumPerTileKernel : GemmBlockwiseFp8Kernel<M, Extents> {
  using Base = GemmBlockwiseFp8Kernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;
  using Input = typename Base::Input;
  using Accum = typename Base::Accum;

  static constexpr void epilogue(M& machine, const Problem& problem, const Storage& smem) {
    blockwise_epilogue<Base>(
        machine, problem, smem, [&](auto& warp, auto& input, auto& sum, Tile, std::uint32_t k) {
          auto stage = input.template claim_consumer<typename Base::ReadsScales>();
          std::move(stage).release();
          if (k + 1 == problem.k_tiles) {  // the fault: in every k step
            auto accum = warp.acquire_epilogue_linear();
            typename ScaledSum<M>::RowFactors rows;
            rows.fill(1.0F);
            sum.add(accum, problem.extents.tile_n, rows, [](std::uint32_t) { return 1.0F; });
            std::move(accum).release();
          }
        });
  }
};

struct GemmBlockwiseFp8AccumPerTile : GemmBlockwiseFp8Twin {
  static constexpr ScenarioInfo kInfo{"gemm_blockwise_fp8_accum_per_tile",
                                      ScenarioKind::kBroken,
                                      "the epilogue frees one accumulator a tile, not one a k step",
                                      "DEADLOCK",
                                      "gemm_blockwise_fp8"};
  template <Machine M, class Extents>
  using Kernel = GemmBlockwiseFp8AccumPerTileKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
