/// Broken: the epilogue steps its input stage and leaves it at that, as if the end of a k step told
/// both pipelines.
///
/// The MMA's commit alone does not free a stage: four arrivals are missing.
///
/// Expected: MBAR_UNDERARRIVE. Twin: gemm_blockwise_fp8.

#pragma once

#include "scenarios/broken/gemm_blockwise_fp8_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct GemmBlockwiseFp8InputOnlySteppedKernel : GemmBlockwiseFp8Kernel<M, Extents> {
  using Base = GemmBlockwiseFp8Kernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;
  using Input = typename Base::Input;
  using Accum = typename Base::Accum;

  static constexpr void epilogue(M& machine, const Problem& problem, const Storage& smem) {
    blockwise_epilogue<Base>(
        machine, problem, smem, [&](auto& warp, auto& input, auto& sum, Tile, std::uint32_t) {
          auto accum = warp.acquire_epilogue_linear();
          auto stage = input.template claim_consumer<typename Base::ReadsScales>();
          typename ScaledSum<M>::RowFactors rows;
          sum.load_factors(rows, stage.payload().a_scales_tile().tile);
          std::move(stage).release_without_signal();  // the fault: no arrival on input.empty
          sum.add(accum, problem.extents.tile_n, rows, [](std::uint32_t) { return 1.0F; });
          std::move(accum).release();
        });
  }
};

struct GemmBlockwiseFp8InputOnlyStepped : GemmBlockwiseFp8Twin {
  static constexpr ScenarioInfo kInfo{"gemm_blockwise_fp8_input_only_stepped",
                                      ScenarioKind::kBroken,
                                      "the epilogue steps past its input stages without an arrival",
                                      "MBAR_UNDERARRIVE",
                                      "gemm_blockwise_fp8"};
  template <Machine M, class Extents>
  using Kernel = GemmBlockwiseFp8InputOnlySteppedKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
