/// Broken: the storing warps hand factors over, and wait for their stores afterwards.
///
/// tcgen05.st is asynchronous: the MMA may read the slot before the factors are there.
///
/// Expected: TMEM_ST_NO_WAIT. Twin: gemm_grouped_1d1d.

#pragma once

#include "scenarios/broken/gemm_grouped_1d1d_twin.hpp"

namespace warptwin::scenarios {

struct GemmGrouped1d1dStoredBeforeWait : GemmGrouped1d1dTwin {
  static constexpr ScenarioInfo kInfo{"gemm_grouped_1d1d_stored_before_wait",
                                      ScenarioKind::kBroken,
                                      "factors are handed over before their stores are complete",
                                      "TMEM_ST_NO_WAIT",
                                      "gemm_grouped_1d1d"};
  static constexpr void hand_over(auto& machine, auto& stage) {
    machine.tcgen05_fence_before_thread_sync();
    machine.mbarrier_arrive(stage.stored());
    machine.tcgen05_wait_st();  // the fault: it comes before the arrival
    machine.fence_proxy_async(ProxySpace::kSharedCta);
    arrive_as<ArrivalKind::kElectedLane>(machine, stage.empty(), SourceSite::current());
  }
  template <Machine M, class Extents>
  using Kernel = GemmGrouped1d1dHandOverKernel<M, Extents, GemmGrouped1d1dStoredBeforeWait>;
};

}  // namespace warptwin::scenarios
