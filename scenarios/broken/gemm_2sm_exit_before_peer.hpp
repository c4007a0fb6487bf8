/// Broken: no cluster barrier at the end: a CTA leaves when its own warps are done.
///
/// The leader waits for both epilogues to be done with tensor memory, but not for the arrivals that
/// freed the last accumulators: they were sent earlier, and may come later.
///
/// Expected: CTA_EXIT_WITH_PENDING_REMOTE. Twin: gemm_2sm.

#pragma once

#include "scenarios/broken/gemm_2sm_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct Gemm2smExitBeforePeerKernel : Gemm2smKernel<M, Extents> {
  using Base = Gemm2smKernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;

  // The fault: nobody waits for those who can still reach this CTA.
  static constexpr void finish(M&, const Problem&, const Storage&) {}
};

struct Gemm2smExitBeforePeer : Gemm2smTwin {
  static constexpr ScenarioInfo kInfo{"gemm_2sm_exit_before_peer",
                                      ScenarioKind::kBroken,
                                      "a CTA does not wait for its peer at the end",
                                      "CTA_EXIT_WITH_PENDING_REMOTE",
                                      "gemm_2sm"};
  template <Machine M, class Extents>
  using Kernel = Gemm2smExitBeforePeerKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
