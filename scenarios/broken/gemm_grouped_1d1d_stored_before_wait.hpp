/// Broken: the storing warps hand factors over, and wait for their stores afterwards.
///
/// tcgen05.st is asynchronous: the MMA may read the slot before the factors are there.
///
/// Expected: TMEM_ST_NO_WAIT. Twin: gemm_grouped_1d1d.

#pragma once

#include "scenarios/broken/gemm_grouped_1d1d_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct GemmGrouped1d1dStoredBeforeWaitKernel : GemmGrouped1d1dKernel<M, Extents> {
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
        machine.tcgen05_fence_before_thread_sync();
        machine.mbarrier_arrive(stage.stored());
        machine.tcgen05_wait_st();  // the fault: it comes before the arrival
        machine.fence_proxy_async(ProxySpace::kSharedCta);
        arrive_as<ArrivalKind::kElectedLane>(machine, stage.empty(), SourceSite::current());
        std::move(stage).release_without_signal();
      }
    }
    std::move(warp).release();
  }
};

struct GemmGrouped1d1dStoredBeforeWait : GemmGrouped1d1dTwin {
  static constexpr ScenarioInfo kInfo{"gemm_grouped_1d1d_stored_before_wait",
                                      ScenarioKind::kBroken,
                                      "factors are handed over before their stores are complete",
                                      "TMEM_ST_NO_WAIT",
                                      "gemm_grouped_1d1d"};
  template <Machine M, class Extents>
  using Kernel = GemmGrouped1d1dStoredBeforeWaitKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
