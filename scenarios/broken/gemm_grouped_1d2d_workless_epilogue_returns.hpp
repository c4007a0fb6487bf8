/// Broken: the epilogue warps of a CTA without a tile leave at once; its MMA warp has allocated.
///
/// It waits for epilogues that do not read the address of tensor memory, nor say they are done.
///
/// Expected: DEADLOCK. Twin: gemm_grouped_1d2d.

#pragma once

#include "scenarios/broken/gemm_grouped_1d2d_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct GemmGrouped1d2dWorklessEpilogueReturnsKernel : GemmGrouped1d2dKernel<M, Extents> {
  using Base = GemmGrouped1d2dKernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;

  static constexpr void epilogue(M& machine, const Problem& problem, const Storage& smem) {
    const auto& own = problem.of(machine);
    const auto tiles = own.tiles(machine);
    if (!(tiles.begin() != tiles.end())) {
      return;  // the fault: the hand-over and the end of tensor memory are shared with MMA
    }
    Base::epilogue(machine, problem, smem);
  }
};

struct GemmGrouped1d2dWorklessEpilogueReturns : GemmGrouped1d2dTwin {
  static constexpr ScenarioInfo kInfo{"gemm_grouped_1d2d_workless_epilogue_returns",
                                      ScenarioKind::kBroken,
                                      "epilogue warps without a tile leave, the MMA warp does not",
                                      "DEADLOCK",
                                      "gemm_grouped_1d2d"};
  template <Machine M, class Extents>
  using Kernel = GemmGrouped1d2dWorklessEpilogueReturnsKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
