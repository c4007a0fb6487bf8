/// Broken: a wgmma takes tiles whose rows are of K for tiles whose columns are.
///
/// The copies are right, and so is every barrier; the instruction is told of K-major tiles.
///
/// Expected: LAYOUT_MAJOR. Twin: gemm_wgmma_mn.

#pragma once

#include <cstdint>
#include <span>

#include "common/kernel/parameter_table.hpp"

#include "scenarios/broken/gemm_wgmma_twin.hpp"
#include "scenarios/gemm_wgmma_mn.hpp"

namespace warptwin::scenarios {

struct GemmWgmmaMnReadKMajor : GemmWgmmaMn {
  static constexpr ScenarioInfo kInfo{"gemm_wgmma_mn_read_k_major",
                                      ScenarioKind::kBroken,
                                      "a wgmma takes MN-major operands for K-major ones",
                                      "LAYOUT_MAJOR",
                                      "gemm_wgmma_mn"};
  template <Machine M, class Extents>
  using Kernel = GemmWgmmaTwinKernel<M,
                                     Extents,
                                     GemmWgmmaMnReadKMajor,
                                     GemmWgmmaKernel<M, Extents, MnMajorPartsOf<bf16, bf16>>>;

  static std::span<const Parameter> parameters() {
    static const auto kParameters = extended(GemmWgmmaMn::parameters(),
                                             {{"m", "rows of D", 256, 1, 1 << 20},
                                              {"n", "columns of D", 128, 1, 1 << 20},
                                              {"k", "rows of A and B", 256, 1, 1 << 20}});
    return kParameters;
  }

  template <Machine M, class Input, class D>
  static constexpr void multiply(
      M& machine, Input& input, D& d, std::uint32_t first_row, KSteps steps) {
    for (std::uint32_t step = 0; step < steps.count; ++step) {
      auto stage = input.acquire_stage();
      const WideTile<bf16> a = stage.payload().a_tile().tile.tile;
      const WideTile<bf16> b = stage.payload().b_tile().tile.tile;
      // The fault: as many rows of M, or N, as there are columns.
      const SharedTile<bf16> rows_a{a.base, a.columns, a.rows, Swizzle::k128B};
      const SharedTile<bf16> rows_b{b.base, b.columns, b.rows, Swizzle::k128B};
      multiply_group(machine, d, rows_a, first_row, rows_b, step != 0);
      machine.template wgmma_wait_group<0>();
      std::move(stage).release();
    }
    machine.template wgmma_wait_group<0>(d);
  }
};

}  // namespace warptwin::scenarios
