/// Broken: a warp frees a stage on its own CTA's barrier alone, in a cluster that multicasts B.
///
/// The other CTA copies half of B into it: it waits for arrivals that nobody makes.
///
/// Expected: MBAR_UNDERARRIVE. Twin: gemm_wgmma.

#pragma once

#include "scenarios/broken/gemm_wgmma_twin.hpp"

namespace warptwin::scenarios {

struct GemmWgmmaFreesOwnStage : GemmWgmmaClusterTwin {
  static constexpr ScenarioInfo kInfo{"gemm_wgmma_frees_own_stage",
                                      ScenarioKind::kBroken,
                                      "a stage with another CTA's copies is freed in one CTA",
                                      "MBAR_UNDERARRIVE",
                                      "gemm_wgmma"};
  template <Machine M, class Extents>
  using Kernel = GemmWgmmaTwinKernel<M, Extents, GemmWgmmaFreesOwnStage>;

  template <Machine M, class Input, class D>
  static constexpr void multiply(
      M& machine, Input& input, D& d, std::uint32_t first_row, KSteps steps) {
    for (std::uint32_t step = 0; step < steps.count; ++step) {
      auto stage = input.acquire_stage();
      const auto tiles = stage.payload();
      multiply_group(machine, d, tiles.a_tile().tile, first_row, tiles.b_tile().tile, step != 0);
      machine.template wgmma_wait_group<0>();
      // The fault: release() arrives in every CTA whose copies the stage has.
      machine.elect_one([&] { machine.mbarrier_arrive(stage.mbar()); });
      std::move(stage).release_without_signal();
    }
    machine.template wgmma_wait_group<0>(d);
  }
};

}  // namespace warptwin::scenarios
