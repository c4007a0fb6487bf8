/// Scenario: gemm_block_scaled_sparse by pairs of CTAs whose clusters claim tiles, as those of
/// gemm_block_scaled_persistent do. Barriers and expectation as there.

#pragma once

#include "scenarios/gemm_block_scaled_persistent.hpp"
#include "scenarios/gemm_block_scaled_sparse.hpp"

namespace warptwin::scenarios {

struct GemmBlockScaledSparsePersistent : GemmBlockScaledPersistentOf<GemmBlockScaledSparse> {
  static constexpr ScenarioInfo kInfo{"gemm_block_scaled_sparse_persistent",
                                      ScenarioKind::kClean,
                                      "block-scaled GEMM of a sparse A whose clusters claim tiles"};
};

}  // namespace warptwin::scenarios
