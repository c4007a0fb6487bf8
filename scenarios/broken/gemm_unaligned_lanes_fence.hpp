/// Broken: the lanes that copy fence between the proxies, where their copies are under way, and the
/// MMA warp does not.
///
/// A fence covers what its thread has done: the copies are complete behind it. tcgen05.mma may read
/// what lay in the stage before, and the result is wrong now and then.
///
/// Expected: PROXY_FENCE_MISSING. Twin: gemm_unaligned.

#pragma once

#include "scenarios/broken/gemm_unaligned_twin.hpp"

namespace warptwin::scenarios {

struct FencedBeforeCopied : CopiedByLanes {
  template <Machine M>
  static constexpr void hand_over(M& machine, Mbarrier full, SourceSite site) {
    machine.fence_proxy_async(ProxySpace::kSharedCta, site);  // the fault: nothing is written yet
    machine.cp_async_mbarrier_arrive_noinc(full, site);
  }
  template <Machine M>
  static constexpr void take_over(M&, SourceSite) {}
};

struct GemmUnalignedLanesFence : GemmUnalignedTwin<FencedBeforeCopied> {
  static constexpr ScenarioInfo kInfo{"gemm_unaligned_lanes_fence",
                                      ScenarioKind::kBroken,
                                      "lanes fence between the proxies before their copies come",
                                      "PROXY_FENCE_MISSING",
                                      "gemm_unaligned"};
};

}  // namespace warptwin::scenarios
