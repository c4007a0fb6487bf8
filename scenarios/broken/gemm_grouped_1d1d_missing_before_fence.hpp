/// Broken: the storing warps hand factors over without tcgen05.fence::before_thread_sync.
///
/// The mbarrier orders the threads, and not what they do in tensor memory.
///
/// Expected: TMEM_FENCE_MISSING. Twin: gemm_grouped_1d1d.

#pragma once

#include "scenarios/broken/gemm_grouped_1d1d_twin.hpp"

namespace warptwin::scenarios {

struct GemmGrouped1d1dMissingBeforeFence : GemmGrouped1d1dTwin {
  static constexpr ScenarioInfo kInfo{"gemm_grouped_1d1d_missing_before_fence",
                                      ScenarioKind::kBroken,
                                      "factors are handed over without a tcgen05 fence",
                                      "TMEM_FENCE_MISSING",
                                      "gemm_grouped_1d1d"};
  static constexpr void hand_over(auto& machine, auto& stage) {
    machine.tcgen05_wait_st();
    machine.mbarrier_arrive(stage.stored());  // the fault: no fence before it
    machine.fence_proxy_async(ProxySpace::kSharedCta);
    arrive_as<ArrivalKind::kElectedLane>(machine, stage.empty(), SourceSite::current());
  }
  template <Machine M, class Extents>
  using Kernel = GemmGrouped1d1dHandOverKernel<M, Extents, GemmGrouped1d1dMissingBeforeFence>;
};

}  // namespace warptwin::scenarios
