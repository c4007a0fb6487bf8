/// Scenario: gemm_wgmma_sparse, s8 in, f32 out.

#pragma once

#include "scenarios/gemm_wgmma_sparse.hpp"

namespace warptwin::scenarios {

struct GemmWgmmaSparseS8 : GemmWgmmaSparseOf<GemmPartsOf<s8, f32>> {
  static constexpr ScenarioInfo kInfo{
      "gemm_wgmma_sparse_s8", ScenarioKind::kClean, "gemm_wgmma_sparse, s8 in, f32 out"};
};

}  // namespace warptwin::scenarios
