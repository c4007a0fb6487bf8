/// Broken: a stage is freed when its products have been issued, as on a tensor core that commits.
///
/// TMA overwrites operands that are still read: wrong sums, now and then.
///
/// Expected: WGMMA_SMEM_RELEASE_EARLY. Twin: gemm_wgmma.

#pragma once

#include "scenarios/broken/gemm_wgmma_twin.hpp"

namespace warptwin::scenarios {

struct GemmWgmmaReleaseAtIssue : GemmWgmmaTwin {
  static constexpr ScenarioInfo kInfo{
      "gemm_wgmma_release_at_issue",
      ScenarioKind::kBroken,
      "stages are freed when their products are issued, not when they are done",
      "WGMMA_SMEM_RELEASE_EARLY",
      "gemm_wgmma"};
  template <Machine M, class Extents>
  using Kernel = GemmWgmmaTwinKernel<M, Extents, GemmWgmmaReleaseAtIssue>;

  template <Machine M, class Input, class D>
  static constexpr void multiply(
      M& machine, Input& input, D& d, std::uint32_t first_row, KSteps steps) {
    for (std::uint32_t step = 0; step < steps.count; ++step) {
      auto stage = input.acquire_stage();
      const auto tiles = stage.payload();
      multiply_group(machine, d, tiles.a_tile().tile, first_row, tiles.b_tile().tile, step != 0);
      // The fault: wgmma_wait_group stands behind the release.
      std::move(stage).release();
      machine.template wgmma_wait_group<0>();
    }
    machine.template wgmma_wait_group<0>(d);
  }
};

}  // namespace warptwin::scenarios
