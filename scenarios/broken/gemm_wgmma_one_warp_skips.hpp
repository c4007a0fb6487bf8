/// Broken: one warp of a warpgroup takes a branch around the last product of a tile.
///
/// The other three wait for a product that never begins: the kernel hangs.
///
/// Expected: WGMMA_NOT_WARPGROUP. Twin: gemm_wgmma.

#pragma once

#include "scenarios/broken/gemm_wgmma_twin.hpp"

namespace warptwin::scenarios {

struct GemmWgmmaOneWarpSkips : GemmWgmmaTwin {
  static constexpr ScenarioInfo kInfo{
      "gemm_wgmma_one_warp_skips",
      ScenarioKind::kBroken,
      "one warp leaves out a wgmma that the rest of its warpgroup executes",
      "WGMMA_NOT_WARPGROUP",
      "gemm_wgmma"};
  template <Machine M, class Extents>
  using Kernel = GemmWgmmaTwinKernel<M, Extents, GemmWgmmaOneWarpSkips>;

  template <Machine M, class Input, class D>
  static constexpr void multiply(
      M& machine, Input& input, D& d, std::uint32_t first_row, KSteps steps) {
    for (std::uint32_t step = 0; step < steps.count; ++step) {
      auto stage = input.acquire_stage();
      const auto tiles = stage.payload();
      // The fault: wgmma is the whole warpgroup's, and warp 5 leaves the last step out.
      if (machine.warp_index() != 5 || step + 1 != steps.count) {
        multiply_group(machine, d, tiles.a_tile().tile, first_row, tiles.b_tile().tile, step != 0);
      }
      machine.template wgmma_wait_group<0>();
      std::move(stage).release();
    }
    machine.template wgmma_wait_group<0>(d);
  }
};

}  // namespace warptwin::scenarios
