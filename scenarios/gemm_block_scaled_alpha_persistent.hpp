/// Scenario: gemm_block_scaled_persistent with D times alpha, as in gemm_block_scaled_alpha.
///
/// Barriers as in gemm_block_scaled_persistent.
///
/// Expected: clean, as gemm_block_scaled_persistent is, for every alpha.

#pragma once

#include "scenarios/gemm_block_scaled_alpha.hpp"
#include "scenarios/gemm_block_scaled_persistent.hpp"

namespace warptwin::scenarios {

struct GemmBlockScaledAlphaPersistent : AlphaOf<GemmBlockScaledPersistent> {
  static constexpr ScenarioInfo kInfo{"gemm_block_scaled_alpha_persistent",
                                      ScenarioKind::kClean,
                                      "block-scaled GEMM by clusters that claim tiles, scaled as a "
                                      "whole"};
  template <Machine M, class Extents>
  using Kernel =
      ClaimingKernel<M, Extents, AlphaKernel<M, Extents, GemmBlockScaledKernel<M, Extents>>>;
};

}  // namespace warptwin::scenarios
