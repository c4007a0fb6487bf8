/// Scenario: gemm_block_scaled_warpgroups by clusters that claim tiles.
///
/// Barriers as in gemm_block_scaled_persistent, but that accum.empty and tmem.done count the lanes
/// of two warpgroups, and clc.empty those of four warps more in each CTA.
///
/// Expected: clean, as gemm_block_scaled_persistent is.

#pragma once

#include "scenarios/gemm_block_scaled_persistent.hpp"
#include "scenarios/gemm_block_scaled_warpgroups.hpp"

namespace warptwin::scenarios {

struct GemmBlockScaledWarpgroupsPersistent
    : GemmBlockScaledPersistentOf<GemmBlockScaledWarpgroups> {
  static constexpr ScenarioInfo kInfo{"gemm_block_scaled_warpgroups_persistent",
                                      ScenarioKind::kClean,
                                      "block-scaled GEMM by clusters that claim tiles, two "
                                      "warpgroups in the epilogue"};
  using Base = GemmBlockScaledPersistentOf<GemmBlockScaledWarpgroups>;
  using Tiles = GemmBlockScaledExtents<2, 256, 128, 256, 5, 2>;
  using StaticExtents = GemmPersistentExtents<GemmBlockScaledClusterExtents<Tiles, 2, 2, 1>, 2>;

  static std::span<const Parameter> parameters() {
    static const auto kParameters =
        extended(Base::parameters(), {{"stages", "stages of the input ring", 5, 1, 64}});
    return kParameters;
  }
};

}  // namespace warptwin::scenarios
