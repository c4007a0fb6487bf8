/// Broken: every MMA of a k step has the sparsity selector 0, so that each second one takes the
/// metadata of the one before it.
///
/// Expected: RESULT_WRONG. Twin: gemm_sparse.

#pragma once

#include "scenarios/broken/gemm_sparse_twin.hpp"

namespace warptwin::scenarios {

/// multiply_sparse, whose MMAs have the selectors that `selector(step)` says.
struct SparseWithSelectors : SparseSteps {
  template <class Selector>
  static constexpr void multiply_by(auto& machine,
                                    CtaGroup group,
                                    const auto& accum,
                                    const auto& tiles,
                                    TmemAddress metadata,
                                    Accumulate accumulate,
                                    Selector selector) {
    copy_metadata(machine, group, tiles.metadata_tile().tile, metadata);
    const auto& a = tiles.a_tile().tile;
    const auto dense =
        UmmaInstructionDescriptor::make(element_type(a), element_type(a), a.rows, tiles.b.rows);
    for (std::uint32_t i = 0; i < 4; ++i) {
      machine.tcgen05_mma_sp(
          group,
          accum.tmem().address(),
          UmmaSmemDescriptor::k_major(a).advanced(32 * i),
          UmmaSmemDescriptor::k_major(tiles.b.panel(i / 2)).advanced(64 * (i % 2)),
          dense.with_sparse_a(selector(i)),
          metadata.at_column(i / 2 * 2),
          accumulate == Accumulate::kYes || i > 0);
    }
  }
};

struct SparseSelectorNotStepped : SparseWithSelectors {
  static constexpr void multiply(auto& machine,
                                 CtaGroup group,
                                 const auto& accum,
                                 const auto& tiles,
                                 TmemAddress metadata,
                                 Accumulate accumulate) {
    multiply_by(machine, group, accum, tiles, metadata, accumulate, [](std::uint32_t) {
      return 0U;  // the fault
    });
  }
};

struct GemmSparseSelectorNotStepped : GemmSparseTwin<SparseSelectorNotStepped> {
  static constexpr ScenarioInfo kInfo{"gemm_sparse_selector_not_stepped",
                                      ScenarioKind::kBroken,
                                      "MMAs that all have the first sparsity selector",
                                      "RESULT_WRONG",
                                      "gemm_sparse"};
};

}  // namespace warptwin::scenarios
