/// Broken: the warps meet at a barrier before the CTA ends, and the idle ones have left.
///
/// Their early return was right until somebody added the barrier.
///
/// Expected: DEADLOCK. Twin: attention.

#pragma once

#include "scenarios/broken/attention_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct AttentionIdleWarpsMissLastBarrierKernel : AttentionKernel<M, Extents> {
  using Base = AttentionKernel<M, Extents>;

  static constexpr void finish(M& machine,
                               const typename Base::Problem&,
                               const typename Base::Storage&) {
    constexpr RoleTable kRoles = kAttentionRoles;
    if (kRoles.role_of(machine.warp_index()) == Role::kIdle) {
      return;  // the fault
    }
    machine.bar_sync(static_cast<std::uint32_t>(NamedBarrierId::kFirstFree),
                     kRoles.warps() * kWarpLanes);
  }
};

struct AttentionIdleWarpsMissLastBarrier : AttentionTwin {
  static constexpr ScenarioInfo kInfo{"attention_idle_warps_miss_last_barrier",
                                      ScenarioKind::kBroken,
                                      "idle warps return before the barrier that ends the kernel",
                                      "DEADLOCK",
                                      "attention"};
  template <Machine M, class Extents>
  using Kernel = AttentionIdleWarpsMissLastBarrierKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
