/// Broken: no cluster barrier at the end: a CTA leaves when its own warps are done.
///
/// The scheduler waits until every response has been read; the arrivals that freed the last
/// accumulators may still be on their way to the leader.
///
/// Expected: CTA_EXIT_WITH_PENDING_REMOTE. Twin: gemm_persistent.

#pragma once

#include "scenarios/broken/gemm_persistent_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct GemmPersistentExitBeforePeerKernel : GemmPersistentKernel<M, Extents> {
  using Base = GemmPersistentKernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;

  // The fault: nobody waits for those who can still reach this CTA.
  static constexpr void finish(M&, const Problem&, const Storage&) {}
};

struct GemmPersistentExitBeforePeer : GemmPersistentTwin {
  static constexpr ScenarioInfo kInfo{"gemm_persistent_exit_before_peer",
                                      ScenarioKind::kBroken,
                                      "a CTA does not wait for its peer at the end",
                                      "CTA_EXIT_WITH_PENDING_REMOTE",
                                      "gemm_persistent"};
  template <Machine M, class Extents>
  using Kernel = GemmPersistentExitBeforePeerKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
