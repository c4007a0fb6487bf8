/// Broken: the epilogue-load warp brings one box of the residual for each tile.
///
/// The epilogue blends box by box, and waits for the second.
///
/// Expected: DEADLOCK. Twin: conv2d_fprop.

#pragma once

#include "scenarios/broken/conv2d_fprop_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct Conv2dFpropOneResidualATileKernel : Conv2dFpropKernel<M, Extents> {
  using Base = Conv2dFpropKernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;
  using Input = typename Base::Input;
  using Accum = typename Base::Accum;

  static constexpr void epilogue_load(M& machine, const Problem& problem, const Storage& smem) {
    auto source = EpiLoadPipeline<M>{machine, smem.source};
    auto order = LoadOrderBarrier<M>{machine, smem.order};
    for (const Tile tile : problem.tiles(machine)) {
      order.wait_and_step();
      auto stage = source.acquire_producer();  // the fault: one for each box is wanted
      stage.load(problem.c,
                 problem.box_at(tile, 0, smem.out.first.columns),
                 smem.source.tile(stage.index()));
      std::move(stage).release();
    }
  }
};

struct Conv2dFpropOneResidualATile : Conv2dFpropTwin {
  static constexpr ScenarioInfo kInfo{
      "conv2d_fprop_one_residual_a_tile",
      ScenarioKind::kBroken,
      "one box of the residual is brought a tile, and all are waited for",
      "DEADLOCK",
      "conv2d_fprop"};
  template <Machine M, class Extents>
  using Kernel = Conv2dFpropOneResidualATileKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
