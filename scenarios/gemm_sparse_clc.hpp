/// Scenario: gemm_sparse_persistent with MMAs of one CTA: clusters of single CTAs claim tiles.

#pragma once

#include "scenarios/gemm_sparse_persistent.hpp"

namespace warptwin::scenarios {

struct GemmSparseClc : GemmSparsePersistentOf<GemmSparse> {
  static constexpr ScenarioInfo kInfo{
      "gemm_sparse_clc", ScenarioKind::kClean, "gemm_sparse whose clusters of CTAs claim tiles"};
};

}  // namespace warptwin::scenarios
