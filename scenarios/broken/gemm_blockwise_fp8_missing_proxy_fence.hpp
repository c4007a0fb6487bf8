/// Broken: the epilogue frees the input stage right after its lanes have read the factors of A.
///
/// The reads are generic, the copy that fills the stage again is not: without a proxy fence it may
/// overtake them.
///
/// Expected: PROXY_FENCE_MISSING_WAR. Twin: gemm_blockwise_fp8.

#pragma once

#include "scenarios/broken/gemm_blockwise_fp8_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct GemmBlockwiseFp8MissingProxyFenceKernel : GemmBlockwiseFp8Kernel<M, Extents> {
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
          std::move(stage).release();  // the fault: no fence.proxy.async before it
          sum.add(accum, problem.extents.tile_n, rows, [](std::uint32_t) { return 1.0F; });
          std::move(accum).release();
        });
  }
};

struct GemmBlockwiseFp8MissingProxyFence : GemmBlockwiseFp8Twin {
  static constexpr ScenarioInfo kInfo{
      "gemm_blockwise_fp8_missing_proxy_fence",
      ScenarioKind::kBroken,
      "no proxy fence between the reads of the factors and their next copy",
      "PROXY_FENCE_MISSING_WAR",
      "gemm_blockwise_fp8"};
  template <Machine M, class Extents>
  using Kernel = GemmBlockwiseFp8MissingProxyFenceKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
