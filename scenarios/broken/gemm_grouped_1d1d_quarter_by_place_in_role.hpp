/// Broken: the first of the four storing warps stores to the first quarter of the lanes.
///
/// It is warp 7 of its CTA, and a warp reaches the quarter of its rank modulo 4 alone.
///
/// Expected: TMEM_LANE_VIOLATION. Twin: gemm_grouped_1d1d.

#pragma once

#include "scenarios/broken/gemm_grouped_1d1d_twin.hpp"

namespace warptwin::scenarios {

struct GemmGrouped1d1dQuarterByPlaceInRole : GemmGrouped1d1dTwin {
  static constexpr ScenarioInfo kInfo{"gemm_grouped_1d1d_quarter_by_place_in_role",
                                      ScenarioKind::kBroken,
                                      "a warp stores to the quarter of its place in the role",
                                      "TMEM_LANE_VIOLATION",
                                      "gemm_grouped_1d1d"};
  template <Machine M>
  static constexpr void fill(M& machine, const auto& smem, auto stage, const ScaleBlocks& blocks) {
    constexpr auto kRoles = gemm_grouped_1d1d_roles(true);
    const std::uint32_t place = machine.warp_index() - kRoles.first_warp(Role::kScaleToTmem);
    for (std::uint32_t i = 0; i < blocks.count; ++i) {
      const SharedAddress block = smem.sfb.block(stage.index(), i);
      const SharedTile<f32> lines{block, kScaleBlockLines, 4, Swizzle::kNone};
      typename M::template Fragment<1> factors;
      machine.ld_shared_row(lines, 0, blocks.word, factors);
      // The fault: not the rank in the CTA.
      const TmemAddress quarter = blocks.tmem.at_lane(kWarpLanes * place);
      machine.tcgen05_st_32x32b(quarter.at_column(i * kScaleBlockColumns), factors);
    }
    std::move(stage).release();
  }
  template <Machine M, class Extents>
  using Kernel = GemmGrouped1d1dFillKernel<M, Extents, GemmGrouped1d1dQuarterByPlaceInRole>;
};

}  // namespace warptwin::scenarios
