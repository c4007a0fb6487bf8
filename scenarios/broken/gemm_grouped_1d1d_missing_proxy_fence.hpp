/// Broken: the storing warps give their place in shared memory back without a proxy fence.
///
/// They have read it by ordinary loads, and the next copy writes it by the async proxy.
///
/// Expected: PROXY_FENCE_MISSING_WAR. Twin: gemm_grouped_1d1d.

#pragma once

#include "scenarios/broken/gemm_grouped_1d1d_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct GemmGrouped1d1dMissingProxyFenceKernel : GemmGrouped1d1dKernel<M, Extents> {
  using Base = GemmGrouped1d1dKernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;

  static constexpr void scale_to_tmem(M& machine, const Problem& problem, const Storage& smem) {
    using Warp = EpilogueWarp<M, typename Base::Accum, typename Base::Tmem>;
    auto warp = Warp::create(machine, smem.accum, smem.tmem);
    auto sfb = typename Base::Sfb{machine, smem.sfb};
    const ScaledTileShape shape = problem.extents.shape();
    const ScaleSlots scales = Base::slots(problem, smem, warp.tmem());
    for (auto at = Base::template tiles<Role::kScaleToTmem>(machine, problem, smem); at.exists();
         at.next()) {
      const std::uint32_t word = shape.first_column(at->tile.n);
      for (std::uint32_t k = 0; k < problem.k_tiles; ++k) {
        auto stage = sfb.acquire_writer();
        const TmemAddress to = scales[stage.index()].b;
        for (std::uint32_t i = 0; i < shape.k_blocks(); ++i) {
          stage.store_block(i, word, to.at_column(i * kScaleBlockColumns));
        }
        machine.tcgen05_wait_st();
        machine.tcgen05_fence_before_thread_sync();
        machine.mbarrier_arrive(stage.stored());
        // The fault: no fence.proxy.async.
        arrive_as<ArrivalKind::kElectedLane>(machine, stage.empty(), SourceSite::current());
        std::move(stage).release_without_signal();
      }
    }
    std::move(warp).release();
  }
};

struct GemmGrouped1d1dMissingProxyFence : GemmGrouped1d1dTwin {
  static constexpr ScenarioInfo kInfo{"gemm_grouped_1d1d_missing_proxy_fence",
                                      ScenarioKind::kBroken,
                                      "shared memory is given back to TMA without a proxy fence",
                                      "PROXY_FENCE_MISSING_WAR",
                                      "gemm_grouped_1d1d"};
  template <Machine M, class Extents>
  using Kernel = GemmGrouped1d1dMissingProxyFenceKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
