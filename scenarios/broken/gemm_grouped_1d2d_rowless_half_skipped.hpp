/// Broken: the load warp of a CTA whose half of a pair's tile has no rows copies nothing.
///
/// Half of B comes through it, and the leader waits for the bytes of both.
///
/// Expected: DEADLOCK. Twin: gemm_grouped_1d2d.

#pragma once

#include "scenarios/broken/gemm_grouped_1d2d_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct GemmGrouped1d2dRowlessHalfSkippedKernel : GemmGrouped1d2dKernel<M, Extents> {
  using Base = GemmGrouped1d2dKernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;

  static constexpr void load(M& machine, const Problem& problem, const Storage& smem) {
    const auto& own = problem.of(machine);
    for (const Tile tile : own.tiles(machine)) {
      if (!own.tile_walk.covers(tile)) {
        return;  // the fault: its half of B is missing
      }
    }
    Base::load(machine, problem, smem);
  }
};

struct GemmGrouped1d2dRowlessHalfSkipped : GemmGrouped1d2dTwin {
  static constexpr ScenarioInfo kInfo{"gemm_grouped_1d2d_rowless_half_skipped",
                                      ScenarioKind::kBroken,
                                      "a CTA of a pair without rows does not load",
                                      "DEADLOCK",
                                      "gemm_grouped_1d2d"};
  template <Machine M, class Extents>
  using Kernel = GemmGrouped1d2dRowlessHalfSkippedKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
