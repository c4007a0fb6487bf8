/// Broken: the epilogue frees a box of the residual, and blends it in after that.
///
/// The next box may be copied over it while it is read.
///
/// Expected: SMEM_RACE. Twin: conv2d_fprop.

#pragma once

#include "scenarios/broken/conv2d_fprop_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct Conv2dFpropResidualFreedBeforeReadKernel : Conv2dFpropKernel<M, Extents> {
  using Base = Conv2dFpropKernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;
  using Input = typename Base::Input;
  using Accum = typename Base::Accum;

  static constexpr void epilogue(M& machine, const Problem& problem, const Storage& smem) {
    auto warp = EpilogueWarp<M, Accum>::create(machine, smem.accum, smem.tmem);
    auto source = EpiLoadPipeline<M>{machine, smem.source};
    auto writer = TileWriter<M, bf16>{machine, smem.out};
    auto registers = AccumTile<M>{machine};
    const std::uint32_t columns = smem.out.first.columns;
    const std::uint32_t boxes = problem.extents.tile_n / columns;
    for (const Tile tile : problem.tiles(machine)) {
      auto accum = warp.acquire_epilogue_linear();
      for (std::uint32_t box = 0; box < boxes; ++box) {
        registers.load(accum, box * columns, columns);
        auto stage = source.acquire_consumer();
        const std::uint32_t index = stage.index();
        machine.fence_proxy_async(ProxySpace::kSharedCta);
        std::move(stage).release();  // the fault: the box is read after it
        registers.add_scaled(smem.source_tile(index), problem.function.beta);
        registers.store(writer.acquire());
        writer.store(problem.d, problem.box_at(tile, box, columns));
      }
      std::move(accum).release();
    }
    writer.drain();
    std::move(warp).release();
  }
};

struct Conv2dFpropResidualFreedBeforeRead : Conv2dFpropTwin {
  static constexpr ScenarioInfo kInfo{"conv2d_fprop_residual_freed_before_read",
                                      ScenarioKind::kBroken,
                                      "a box of the residual is read after it was freed",
                                      "SMEM_RACE",
                                      "conv2d_fprop"};
  template <Machine M, class Extents>
  using Kernel = Conv2dFpropResidualFreedBeforeReadKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
