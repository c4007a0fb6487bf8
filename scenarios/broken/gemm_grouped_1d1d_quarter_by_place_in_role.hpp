/// Broken: the first of the four storing warps stores to the first quarter of the lanes.
///
/// It is warp 7 of its CTA, and a warp reaches the quarter of its rank modulo 4 alone.
///
/// Expected: TMEM_LANE_VIOLATION. Twin: gemm_grouped_1d1d.

#pragma once

#include "scenarios/broken/gemm_grouped_1d1d_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct GemmGrouped1d1dQuarterByPlaceInRoleKernel : GemmGrouped1d1dKernel<M, Extents> {
  using Base = GemmGrouped1d1dKernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;

  static constexpr void scale_to_tmem(M& machine, const Problem& problem, const Storage& smem) {
    using Warp = EpilogueWarp<M, typename Base::Accum, typename Base::Tmem>;
    auto warp = Warp::create(machine, smem.accum, smem.tmem);
    auto sfb = typename Base::Sfb{machine, smem.sfb};
    const ScaledTileShape shape = problem.extents.shape();
    const ScaleSlots scales = Base::slots(problem, smem, warp.tmem());
    for (auto at = Base::template tiles<Role::kScaleToTmem>(machine, problem, smem); at.exists();
         at.next()) {
      const std::uint32_t word = shape.first_column(at->tile.n);
      for (std::uint32_t k = 0; k < problem.k_tiles; ++k) {
        auto stage = sfb.acquire_writer();
        const TmemAddress to = scales[stage.index()].b;
        const std::uint32_t place =
            machine.warp_index() - Base::kRoles.first_warp(Role::kScaleToTmem);
        for (std::uint32_t i = 0; i < shape.k_blocks(); ++i) {
          const SharedAddress block = smem.sfb.block(stage.index(), i);
          const SharedTile<f32> lines{block, kScaleBlockLines, 4, Swizzle::kNone};
          typename M::template Fragment<1> factors;
          machine.ld_shared_row(lines, 0, word, factors);
          // The fault: not the rank in the CTA.
          const TmemAddress quarter = to.at_lane(kWarpLanes * place);
          machine.tcgen05_st_32x32b(quarter.at_column(i * kScaleBlockColumns), factors);
        }
        std::move(stage).release();
      }
    }
    std::move(warp).release();
  }
};

struct GemmGrouped1d1dQuarterByPlaceInRole : GemmGrouped1d1dTwin {
  static constexpr ScenarioInfo kInfo{"gemm_grouped_1d1d_quarter_by_place_in_role",
                                      ScenarioKind::kBroken,
                                      "a warp stores to the quarter of its place in the role",
                                      "TMEM_LANE_VIOLATION",
                                      "gemm_grouped_1d1d"};
  template <Machine M, class Extents>
  using Kernel = GemmGrouped1d1dQuarterByPlaceInRoleKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
