/// Scenario: gemm_wgmma_sparse, e4m3 in, bf16 out.

#pragma once

#include "scenarios/gemm_wgmma_sparse.hpp"

namespace warptwin::scenarios {

struct GemmWgmmaSparseE4m3 : GemmWgmmaSparseOf<GemmPartsOf<f8e4m3, bf16>> {
  static constexpr ScenarioInfo kInfo{
      "gemm_wgmma_sparse_e4m3", ScenarioKind::kClean, "gemm_wgmma_sparse, e4m3 in, bf16 out"};
};

}  // namespace warptwin::scenarios
