/// Broken: the producer leaves after its last copy.
///
/// The peer's arrivals on this CTA's barriers are still on their way when the CTA ends. A cluster
/// barrier at the end would do instead of a drain: here there is neither.
///
/// Expected: PRODUCER_TAIL_MISSING. Twin: multicast_ring.

#pragma once

#include "scenarios/multicast_ring.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct MissingDrainKernel : MulticastRingKernel<M, Extents> {
  using Base = MulticastRingKernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;

  // No cluster barrier at the end: the drain alone keeps a CTA there.
  static constexpr void finish(M&, const Problem&, const Storage&) {}

  static constexpr void producer(M& machine, const Problem& problem, const Storage& smem) {
    PipelineState state;
    for (std::uint32_t tile = 0; tile < problem.extents.tiles; ++tile, state.step(smem.stages)) {
      Base::fill(machine, problem, smem, state, tile);
    }
    // The fault: Base::drain(machine, smem, state) is missing.
  }
};

struct MissingDrain : MulticastRing {
  static constexpr ScenarioInfo kInfo{"missing_drain",
                                      ScenarioKind::kBroken,
                                      "a CTA ends before its peer has freed its stages",
                                      "PRODUCER_TAIL_MISSING",
                                      "multicast_ring"};
  template <Machine M, class Extents>
  using Kernel = MissingDrainKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
