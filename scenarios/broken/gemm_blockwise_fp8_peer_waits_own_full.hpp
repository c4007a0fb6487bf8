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
          auto accum = warp.acquire_k_stage_linear();
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

struct GemmBlockwiseFp8PeerWaitsOwnFull : GemmBlockwiseFp8Twin {
  static constexpr ScenarioInfo kInfo{"gemm_blockwise_fp8_peer_waits_own_full",
                                      ScenarioKind::kBroken,
                                      "the epilogue of a pair's peer waits for its own input.full",
                                      "DEADLOCK",
                                      "gemm_blockwise_fp8"};
  static std::span<const Parameter> parameters() {
    static constexpr Parameter kParameters[] = {
        {"m", "rows of A and D", 256, 1, 1 << 20},
        {"n", "rows of B, columns of D", 48, 1, 1 << 20},
        {"k", "columns of A and B", 640, 1, 1 << 20},
        {"tile_m", "rows of an MMA's tile of D", 256, 64, 256},
        {"tile_n", "columns of an MMA's tile of D", 16, 8, 256},
        {"tile_k", "columns of A and B in one stage", 128, 32, 128},
        {"stages", "stages of the input ring", 3, 1, 64},
        {"accum_stages", "accumulators in tensor memory", 2, 1, 64},
        {"cta_group", "CTAs that share an MMA", 2, 1, 2},
        {"cluster_m", "CTAs of a cluster along M", 2, 1, 16},
        {"cluster_n", "CTAs of a cluster along N", 1, 1, 8},
        {"clusters", "clusters that share the tiles; 0: one for each", 1, 0, 1 << 16},
    };
    return kParameters;
  }
  template <Machine M, class Extents>
  using Kernel = GemmBlockwiseFp8PeerWaitsOwnFullKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
