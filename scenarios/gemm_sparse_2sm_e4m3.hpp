/// Scenario: gemm_sparse_2sm, e4m3 in, bf16 out.

#pragma once

#include "scenarios/gemm_sparse.hpp"

namespace warptwin::scenarios {

struct GemmSparse2smE4m3 : GemmSparseOf<CtaGroup::kTwo, GemmPartsOf<f8e4m3, bf16>> {
  static constexpr ScenarioInfo kInfo{
      "gemm_sparse_2sm_e4m3", ScenarioKind::kClean, "gemm_sparse_2sm, e4m3 in, bf16 out"};
};

}  // namespace warptwin::scenarios
