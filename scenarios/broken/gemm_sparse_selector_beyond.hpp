/// Broken: the sparsity selector counts on where the second pair of columns begins: kind f16 has
/// the selectors 0 and 1.
///
/// Expected: TCGEN05_SHAPE. Twin: gemm_sparse.

#pragma once

#include "scenarios/broken/gemm_sparse_selector_not_stepped.hpp"

namespace warptwin::scenarios {

struct SparseSelectorBeyond : SparseWithSelectors {
  static constexpr void multiply(auto& machine,
                                 CtaGroup group,
                                 const auto& accum,
                                 const auto& tiles,
                                 TmemAddress metadata,
                                 Accumulate accumulate) {
    multiply_by(machine, group, accum, tiles, metadata, accumulate, [](std::uint32_t i) {
      return i;  // the fault: 2 and 3
    });
  }
};

struct GemmSparseSelectorBeyond : GemmSparseTwin<SparseSelectorBeyond> {
  static constexpr ScenarioInfo kInfo{"gemm_sparse_selector_beyond",
                                      ScenarioKind::kBroken,
                                      "sparsity selectors that kind f16 has not",
                                      "TCGEN05_SHAPE",
                                      "gemm_sparse"};
};

}  // namespace warptwin::scenarios
