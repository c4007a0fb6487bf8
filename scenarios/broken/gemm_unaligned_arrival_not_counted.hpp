/// Broken: gemm_unaligned whose lanes arrive as in gemm_wgmma_unaligned_arrival_not_counted.
///
/// Each lane adds one to the pending count, and takes it back: the phase is never complete.
///
/// Expected: DEADLOCK. Twin: gemm_unaligned.

#pragma once

#include "scenarios/broken/gemm_unaligned_twin.hpp"
#include "scenarios/broken/gemm_wgmma_unaligned_arrival_not_counted.hpp"

namespace warptwin::scenarios {

struct GemmUnalignedArrivalNotCounted : GemmUnalignedTwin<CopiedNotCounted> {
  static constexpr ScenarioInfo kInfo{"gemm_unaligned_arrival_not_counted",
                                      ScenarioKind::kBroken,
                                      "lanes' copies add the arrivals that they make",
                                      "DEADLOCK",
                                      "gemm_unaligned"};
};

}  // namespace warptwin::scenarios
