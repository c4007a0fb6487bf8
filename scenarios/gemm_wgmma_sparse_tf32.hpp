/// Scenario: gemm_wgmma_sparse, tf32 in, f32 out.

#pragma once

#include "scenarios/gemm_wgmma_sparse.hpp"

namespace warptwin::scenarios {

struct GemmWgmmaSparseTf32 : GemmWgmmaSparseOf<GemmPartsOf<tf32, f32>> {
  static constexpr ScenarioInfo kInfo{
      "gemm_wgmma_sparse_tf32", ScenarioKind::kClean, "gemm_wgmma_sparse, tf32 in, f32 out"};
};

}  // namespace warptwin::scenarios
