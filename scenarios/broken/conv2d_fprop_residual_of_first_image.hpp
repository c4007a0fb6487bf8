/// Broken: the residual's boxes are asked for at a tile's row and pixel, and always in image 0.
///
/// Every barrier is right, and with one image the result too.
///
/// Expected: RESULT_WRONG. Twin: conv2d_fprop.

#pragma once

#include "scenarios/broken/conv2d_fprop_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct Conv2dFpropResidualOfFirstImageKernel : Conv2dFpropKernel<M, Extents> {
  using Base = Conv2dFpropKernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;

  static constexpr void epilogue_load(M& machine, const Problem& problem, const Storage& smem) {
    auto source = EpiLoadPipeline<M>{machine, smem.source};
    auto order = LoadOrderBarrier<M>{machine, smem.order};
    const std::uint32_t columns = smem.out.first.columns;
    for (const Tile tile : problem.tiles(machine)) {
      order.wait_and_step();
      for (std::uint32_t box = 0; box < problem.extents.tile_n / columns; ++box) {
        auto stage = source.acquire_producer();
        Coordinates<4> from = problem.box_at(tile, box, columns);
        from.at[3] = 0;  // the fault: the tile's own image is meant
        stage.load(problem.c, from, smem.source.tile(stage.index()));
        std::move(stage).release();
      }
    }
  }
};

struct Conv2dFpropResidualOfFirstImage : Conv2dFpropTwin {
  static constexpr ScenarioInfo kInfo{"conv2d_fprop_residual_of_first_image",
                                      ScenarioKind::kBroken,
                                      "every image gets the residual of the first",
                                      "RESULT_WRONG",
                                      "conv2d_fprop"};
  template <Machine M, class Extents>
  using Kernel = Conv2dFpropResidualOfFirstImageKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
