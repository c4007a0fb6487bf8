/// Broken: each epilogue waits for its own input.full before it reads the factors of A.
///
/// In a pair all bytes are counted in the leader: the peer's barrier never completes a phase.
///
/// Expected: DEADLOCK. Twin: gemm_blockwise_fp8.

#pragma once

#include "scenarios/broken/gemm_blockwise_fp8_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct GemmBlockwiseFp8PeerWaitsOwnFullKernel : GemmBlockwiseFp8Kernel<M, Extents> {
  using Base = GemmBlockwiseFp8Kernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;
  using Input = typename Base::Input;
  using Accum = typename Base::Accum;

  static constexpr void epilogue(M& machine, const Problem& problem, const Storage& smem) {
    blockwise_epilogue<Base>(
        machine, problem, smem, [&](auto& warp, auto& input, auto& sum, Tile, std::uint32_t) {
          auto accum = warp.acquire_epilogue_linear();
          // The fault: accum.full is all that the peer can wait for.
          auto stage = input.template acquire_consumer<typename Base::ReadsScales>();
          typename ScaledSum<M>::RowFactors rows;
          sum.load_factors(rows, stage.payload().a_scales_tile().tile);
          machine.fence_proxy_async(ProxySpace::kSharedCta);
          std::move(stage).release();
          sum.add(accum, problem.extents.tile_n, rows, [](std::uint32_t) { return 1.0F; });
          std::move(accum).release();
        });
  }
};

struct GemmBlockwiseFp8PeerWaitsOwnFull : GemmBlockwiseFp8PairTwin {
  static constexpr ScenarioInfo kInfo{"gemm_blockwise_fp8_peer_waits_own_full",
                                      ScenarioKind::kBroken,
                                      "the epilogue of a pair's peer waits for its own input.full",
                                      "DEADLOCK",
                                      "gemm_blockwise_fp8"};
  template <Machine M, class Extents>
  using Kernel = GemmBlockwiseFp8PeerWaitsOwnFullKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
