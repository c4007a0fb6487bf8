/// Broken: the storing warps hand factors over without tcgen05.fence::before_thread_sync.
///
/// The mbarrier orders the threads, and not what they do in tensor memory.
///
/// Expected: TMEM_FENCE_MISSING. Twin: gemm_grouped_1d1d.

#pragma once

#include "scenarios/broken/gemm_grouped_1d1d_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct GemmGrouped1d1dMissingBeforeFenceKernel : GemmGrouped1d1dKernel<M, Extents> {
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
        machine.mbarrier_arrive(stage.stored());  // the fault: no fence before it
        machine.fence_proxy_async(ProxySpace::kSharedCta);
        arrive_as<ArrivalKind::kElectedLane>(machine, stage.empty(), SourceSite::current());
        std::move(stage).release_without_signal();
      }
    }
    std::move(warp).release();
  }
};

struct GemmGrouped1d1dMissingBeforeFence : GemmGrouped1d1dTwin {
  static constexpr ScenarioInfo kInfo{"gemm_grouped_1d1d_missing_before_fence",
                                      ScenarioKind::kBroken,
                                      "factors are handed over without a tcgen05 fence",
                                      "TMEM_FENCE_MISSING",
                                      "gemm_grouped_1d1d"};
  template <Machine M, class Extents>
  using Kernel = GemmGrouped1d1dMissingBeforeFenceKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
