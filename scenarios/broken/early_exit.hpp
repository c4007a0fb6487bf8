/// Broken: one CTA ends as soon as its own warps are done; its peer still arrives on its barriers.
///
/// The late arrival finds no CTA: the cluster is killed. A cluster barrier at the end would hold
/// the CTA too: here there is none.
///
/// Expected: CTA_EXIT_WITH_PENDING_REMOTE. Twin: multicast_ring.

#pragma once

#include "scenarios/multicast_ring.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct EarlyExitKernel : MulticastRingKernel<M, Extents> {
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
    if (machine.cta_rank() != 0) {  // the fault: both CTAs must stay
      Base::drain(machine, smem, state);
    }
  }
};

struct EarlyExit : MulticastRing {
  static constexpr ScenarioInfo kInfo{"early_exit",
                                      ScenarioKind::kBroken,
                                      "CTA 0 leaves without a drain, CTA 1 drains",
                                      "CTA_EXIT_WITH_PENDING_REMOTE",
                                      "multicast_ring"};
  template <Machine M, class Extents>
  using Kernel = EarlyExitKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
