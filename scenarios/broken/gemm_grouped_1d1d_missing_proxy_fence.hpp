/// Broken: the storing warps give their place in shared memory back without a proxy fence.
///
/// They have read it by ordinary loads, and the next copy writes it by the async proxy.
///
/// Expected: PROXY_FENCE_MISSING_WAR. Twin: gemm_grouped_1d1d.

#pragma once

#include "scenarios/broken/gemm_grouped_1d1d_twin.hpp"

namespace warptwin::scenarios {

struct GemmGrouped1d1dMissingProxyFence : GemmGrouped1d1dTwin {
  static constexpr ScenarioInfo kInfo{"gemm_grouped_1d1d_missing_proxy_fence",
                                      ScenarioKind::kBroken,
                                      "shared memory is given back to TMA without a proxy fence",
                                      "PROXY_FENCE_MISSING_WAR",
                                      "gemm_grouped_1d1d"};
  static constexpr void hand_over(auto& machine, auto& stage) {
    machine.tcgen05_wait_st();
    machine.tcgen05_fence_before_thread_sync();
    machine.mbarrier_arrive(stage.stored());
    // The fault: no fence.proxy.async.
    arrive_as<ArrivalKind::kElectedLane>(machine, stage.empty(), SourceSite::current());
  }
  template <Machine M, class Extents>
  using Kernel = GemmGrouped1d1dHandOverKernel<M, Extents, GemmGrouped1d1dMissingProxyFence>;
};

}  // namespace warptwin::scenarios
