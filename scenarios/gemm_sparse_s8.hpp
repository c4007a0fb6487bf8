/// Scenario: gemm_sparse, s8 in, f32 out.

#pragma once

#include "scenarios/gemm_sparse.hpp"

namespace warptwin::scenarios {

struct GemmSparseS8 : GemmSparseOf<CtaGroup::kOne, GemmPartsOf<s8, f32>> {
  static constexpr ScenarioInfo kInfo{
      "gemm_sparse_s8", ScenarioKind::kClean, "gemm_sparse, s8 in, f32 out"};
};

}  // namespace warptwin::scenarios
