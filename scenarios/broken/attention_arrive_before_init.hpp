/// Broken: correction declares both accumulators free before warp 0 has initialised the barriers.
///
/// Mostly the arrival is lost, or counted by what the memory held before.
///
/// Expected: MBAR_INIT_RACE. Twin: attention.

#pragma once

#include "common/kernel/dispatch.hpp"

#include "scenarios/broken/attention_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct AttentionArriveBeforeInitKernel : AttentionKernel<M, Extents> {
  using Base = AttentionKernel<M, Extents>;

  static constexpr void start(M& machine,
                              const typename Base::Problem&,
                              const typename Base::Storage& smem) {
    constexpr RoleTable kRoles = kAttentionRoles;
    if (kRoles.role_of(machine.warp_index()) == Role::kCorrection) {
      for (std::uint32_t t = 0; t < kAttentionTiles; ++t) {
        machine.mbarrier_arrive(smem.accum.barriers.empty[t]);  // the fault: start_cluster is after
      }
    }
    start_cluster(machine, smem);
  }
};

struct AttentionArriveBeforeInit : AttentionTwin {
  static constexpr ScenarioInfo kInfo{"attention_arrive_before_init",
                                      ScenarioKind::kBroken,
                                      "an arrival before the barriers are initialised",
                                      "MBAR_INIT_RACE",
                                      "attention"};
  template <Machine M, class Extents>
  using Kernel = AttentionArriveBeforeInitKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
