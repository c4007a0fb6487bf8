/// Scenario: gemm_sparse, tf32 in, f32 out.

#pragma once

#include "scenarios/gemm_sparse.hpp"

namespace warptwin::scenarios {

struct GemmSparseTf32 : GemmSparseOf<CtaGroup::kOne, GemmPartsOf<tf32, f32>> {
  static constexpr ScenarioInfo kInfo{
      "gemm_sparse_tf32", ScenarioKind::kClean, "gemm_sparse, tf32 in, f32 out"};
};

}  // namespace warptwin::scenarios
