/// Broken: cp.async.mbarrier.arrive without .noinc on a barrier whose count has the arrivals.
///
/// Each lane adds one to the pending count, and takes it back: the phase is never complete.
///
/// Expected: DEADLOCK. Twin: gemm_wgmma_unaligned.

#pragma once

#include "scenarios/broken/gemm_wgmma_unaligned_twin.hpp"

namespace warptwin::scenarios {

struct CopiedNotCounted : CopiedByLanes {
  template <Machine M>
  static constexpr void hand_over(M& machine, Mbarrier full, SourceSite site) {
    machine.cp_async_mbarrier_arrive(full, site);  // the fault: not _noinc
  }
};

struct GemmWgmmaUnalignedArrivalNotCounted : GemmWgmmaUnalignedTwin<CopiedNotCounted> {
  static constexpr ScenarioInfo kInfo{"gemm_wgmma_unaligned_arrival_not_counted",
                                      ScenarioKind::kBroken,
                                      "lanes' copies add the arrivals that they make",
                                      "DEADLOCK",
                                      "gemm_wgmma_unaligned"};
};

}  // namespace warptwin::scenarios
