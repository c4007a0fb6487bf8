/// Broken: lanes arrive when they have issued their copies, not when these are complete.
///
/// A stage is multiplied while it is written.
///
/// Expected: SMEM_RAW_NO_WAIT. Twin: gemm_wgmma_unaligned.

#pragma once

#include "scenarios/broken/gemm_wgmma_unaligned_twin.hpp"

namespace warptwin::scenarios {

struct CopiedNotWaitedFor : CopiedByLanes {
  template <Machine M>
  static constexpr void hand_over(M& machine, Mbarrier full, SourceSite site) {
    machine.cp_async_commit_group(site);
    machine.template cp_async_wait_group<1>(site);  // the fault: one group is under way
    machine.mbarrier_arrive(full, 1, kReleaseCta, site);
  }
};

struct GemmWgmmaUnalignedArrivesBeforeCopies : GemmWgmmaUnalignedTwin<CopiedNotWaitedFor> {
  static constexpr ScenarioInfo kInfo{"gemm_wgmma_unaligned_arrives_before_copies",
                                      ScenarioKind::kBroken,
                                      "a stage is handed over while its copies are under way",
                                      "SMEM_RAW_NO_WAIT",
                                      "gemm_wgmma_unaligned"};
};

}  // namespace warptwin::scenarios
