/// Broken: the peer tells the leader before its fence between the proxies.
///
/// The pair's MMA may read what lay in the peer's stage before: the result is wrong now and then.
///
/// Expected: PROXY_FENCE_UNCOVERED. Twin: gemm_2sm_unaligned.

#pragma once

#include "scenarios/broken/gemm_2sm_unaligned_twin.hpp"

namespace warptwin::scenarios {

struct PeerFencesLate : CopiedByLanes {
  template <Machine M>
  static constexpr void pass_on(
      M& machine, auto&& wait, Mbarrier peer, std::uint32_t leader, SourceSite site) {
    wait();
    arrive_at<ArrivalKind::kElectedLane>(machine, peer, leader, site);  // the fault
    take_over(machine, site);
  }
};

struct Gemm2smUnalignedPeerFencesLate : Gemm2smUnalignedTwin<PeerFencesLate> {
  static constexpr ScenarioInfo kInfo{"gemm_2sm_unaligned_peer_fences_late",
                                      ScenarioKind::kBroken,
                                      "the peer tells the leader before its proxy fence",
                                      "PROXY_FENCE_UNCOVERED",
                                      "gemm_2sm_unaligned"};
};

}  // namespace warptwin::scenarios
