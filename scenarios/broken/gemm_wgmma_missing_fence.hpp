/// Broken: the accumulator of a tile is begun while the last tile's registers may still be read.
///
/// Compilers that see it warn, and put a wait before every wgmma; else a wrong tile is stored.
///
/// Expected: WGMMA_FENCE_MISSING. Twin: gemm_wgmma.

#pragma once

#include "scenarios/broken/gemm_wgmma_twin.hpp"

namespace warptwin::scenarios {

struct GemmWgmmaMissingFence : GemmWgmmaTwin {
  static constexpr ScenarioInfo kInfo{"gemm_wgmma_missing_fence",
                                      ScenarioKind::kBroken,
                                      "products begin without wgmma.fence",
                                      "WGMMA_FENCE_MISSING",
                                      "gemm_wgmma"};
  template <Machine M, class Extents>
  using Kernel = GemmWgmmaTwinKernel<M, Extents, GemmWgmmaMissingFence>;

  template <Machine M, class Input, class D>
  static constexpr void multiply(
      M& machine, Input& input, D& d, std::uint32_t first_row, KSteps steps) {
    for (std::uint32_t step = 0; step < steps.count; ++step) {
      auto stage = input.acquire_stage();
      const auto tiles = stage.payload();
      // The fault: no machine.wgmma_fence() before the products.
      for (std::uint32_t k = 0; k < tiles.a_tile().tile.row_bytes(); k += kWgmmaKBytes) {
        machine.wgmma(d,
                      WgmmaSmemDescriptor<bf16>::k_major(tiles.a_tile().tile, first_row, k),
                      WgmmaSmemDescriptor<bf16>::k_major(tiles.b_tile().tile, 0, k),
                      step != 0 || k != 0);
      }
      machine.wgmma_commit_group();
      machine.template wgmma_wait_group<0>();
      std::move(stage).release();
    }
    machine.template wgmma_wait_group<0>(d);
  }
};

}  // namespace warptwin::scenarios
