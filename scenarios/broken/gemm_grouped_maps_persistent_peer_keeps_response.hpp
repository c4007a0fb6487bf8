/// Broken: the second CTA's scheduler reads responses and does not free their places.
///
/// The first CTA's waits for both before it asks again: once each place has been used, for good.
///
/// Expected: DEADLOCK. Twin: gemm_grouped_maps_persistent.

#pragma once

#include "scenarios/gemm_grouped_maps_persistent.hpp"

namespace warptwin::scenarios {

struct PeerKeepsResponse : MapSteps {
  static constexpr WorkResponse fetch(auto& clc, std::uint32_t cta_rank) {
    if (cta_rank == 0) {
      return clc.fetch();
    }
    clc.wait_full();
    const WorkResponse response = clc.read();
    clc.consumer_step();  // the fault: no arrival on clc.empty
    return response;
  }
};

struct GemmGroupedMapsPersistentPeerKeepsResponse : GemmGroupedMapsPersistent {
  static constexpr ScenarioInfo kInfo{"gemm_grouped_maps_persistent_peer_keeps_response",
                                      ScenarioKind::kBroken,
                                      "one of two schedulers does not free a response it has read",
                                      "DEADLOCK",
                                      "gemm_grouped_maps_persistent"};
  template <Machine M, class Extents>
  using Kernel = GemmGroupedMapsKernel<M,
                                       Extents,
                                       GemmParts,
                                       PeerKeepsResponse,
                                       GemmGroupedMapsProblem,
                                       Storage<Extents>>;
};

}  // namespace warptwin::scenarios
