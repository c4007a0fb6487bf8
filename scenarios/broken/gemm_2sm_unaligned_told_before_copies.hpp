/// Broken: the peer tells the leader before it has waited for its own lanes.
///
/// The pair's MMA reads the peer's stage while it is written.
///
/// Expected: SMEM_RAW_NO_WAIT. Twin: gemm_2sm_unaligned.

#pragma once

#include "scenarios/broken/gemm_2sm_unaligned_twin.hpp"

namespace warptwin::scenarios {

struct ToldBeforeCopies : CopiedByLanes {
  template <Machine M>
  static constexpr void pass_on(
      M& machine, auto&& wait, Mbarrier peer, std::uint32_t leader, SourceSite site) {
    take_over(machine, site);
    arrive_at<ArrivalKind::kElectedLane>(machine, peer, leader, site);  // the fault
    wait();
  }
};

struct Gemm2smUnalignedToldBeforeCopies : Gemm2smUnalignedTwin<ToldBeforeCopies> {
  static constexpr ScenarioInfo kInfo{"gemm_2sm_unaligned_told_before_copies",
                                      ScenarioKind::kBroken,
                                      "the peer tells the leader while its copies are under way",
                                      "SMEM_RAW_NO_WAIT",
                                      "gemm_2sm_unaligned"};
};

}  // namespace warptwin::scenarios
