/// Broken: every product is scaled by the factors of the first.
///
/// Expected: RESULT_WRONG. Twin: gemm_block_scaled_batched.

#pragma once

#include "scenarios/gemm_block_scaled_batched.hpp"

namespace warptwin::scenarios {

struct FactorsOfFirst : Batches {
  template <class Extents>
  static FactorsOfFirst of(const ParameterSet& p, const Extents& e) {
    FactorsOfFirst all{Batches::of(p, e)};
    all.sfa_blocks = 0;  // the fault
    return all;
  }
};

struct GemmBlockScaledBatchedFactorsOfFirst : GemmBlockScaledBatched {
  static constexpr ScenarioInfo kInfo{"gemm_block_scaled_batched_factors_of_first",
                                      ScenarioKind::kBroken,
                                      "products that are scaled by the factors of another",
                                      "RESULT_WRONG",
                                      "gemm_block_scaled_batched"};
  template <Machine M, class Extents>
  using Kernel = GemmBlockScaledKernel<M, Extents, GemmParts, FactorsOfFirst>;
};

}  // namespace warptwin::scenarios
