/// Broken: gemm_unaligned whose lanes arrive as in gemm_wgmma_unaligned_arrives_before_copies.
///
/// A stage is multiplied while it is written.
///
/// Expected: SMEM_RAW_NO_WAIT. Twin: gemm_unaligned.

#pragma once

#include "scenarios/broken/gemm_unaligned_twin.hpp"
#include "scenarios/broken/gemm_wgmma_unaligned_arrives_before_copies.hpp"

namespace warptwin::scenarios {

struct GemmUnalignedArrivesBeforeCopies : GemmUnalignedTwin<CopiedNotWaitedFor> {
  static constexpr ScenarioInfo kInfo{"gemm_unaligned_arrives_before_copies",
                                      ScenarioKind::kBroken,
                                      "a stage is handed over while its copies are under way",
                                      "SMEM_RAW_NO_WAIT",
                                      "gemm_unaligned"};
};

}  // namespace warptwin::scenarios
