/// Scenario: gemm_sparse, f16 in and out.

#pragma once

#include "scenarios/gemm_sparse.hpp"

namespace warptwin::scenarios {

struct GemmSparseF16 : GemmSparseOf<CtaGroup::kOne, GemmPartsOf<f16, f16>> {
  static constexpr ScenarioInfo kInfo{
      "gemm_sparse_f16", ScenarioKind::kClean, "gemm_sparse, f16 in and out"};
};

}  // namespace warptwin::scenarios
