/// Scenario: gemm_block_scaled_batched by clusters that claim tiles, as
/// gemm_block_scaled_persistent does.
///
/// Barriers as in gemm_block_scaled_persistent.
///
/// Expected: clean, as gemm_block_scaled_persistent is, for any number of products.

#pragma once

#include "scenarios/gemm_block_scaled_batched.hpp"
#include "scenarios/gemm_block_scaled_persistent.hpp"

namespace warptwin::scenarios {

struct GemmBlockScaledBatchedPersistent : GemmBlockScaledPersistentOf<GemmBlockScaledBatched> {
  static constexpr ScenarioInfo kInfo{"gemm_block_scaled_batched_persistent",
                                      ScenarioKind::kClean,
                                      "block-scaled GEMMs of one shape by clusters that claim "
                                      "tiles"};
  using Base = GemmBlockScaledPersistentOf<GemmBlockScaledBatched>;

  static std::span<const Parameter> parameters() {
    static const auto kParameters = extended(
        Base::parameters(), {{"n", "rows of a B, columns of a D", 128, 1, 1 << 20, "tile_n"}});
    return kParameters;
  }
};

}  // namespace warptwin::scenarios
