/// Broken: the epilogue frees a box of C before it has read it.
///
/// The next box may land while lanes still read the one before.
///
/// Expected: SMEM_RAW_NO_WAIT. Twin: gemm_epilogue_load.

#pragma once

#include "scenarios/broken/gemm_epilogue_load_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct GemmEpilogueLoadEarlySourceReleaseKernel : GemmEpilogueLoadKernel<M, Extents> {
  using Base = GemmEpilogueLoadKernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;
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
        const SharedTile<bf16> box_of_c = smem.source_tile(stage.index());
        std::move(stage).release();  // the fault: the box is read afterwards
        registers.add_scaled(box_of_c, problem.function.beta);
        machine.fence_proxy_async(ProxySpace::kSharedCta);
        registers.store(writer.acquire());
        writer.store(problem.d, {tile.m, tile.n * boxes + box});
      }
      std::move(accum).release();
    }
    writer.drain();
    std::move(warp).release();
  }
};

struct GemmEpilogueLoadEarlySourceRelease : GemmEpilogueLoadTwin {
  static constexpr ScenarioInfo kInfo{"gemm_epilogue_load_early_source_release",
                                      ScenarioKind::kBroken,
                                      "a box of C is freed before it is read",
                                      "SMEM_RAW_NO_WAIT",
                                      "gemm_epilogue_load"};
  template <Machine M, class Extents>
  using Kernel = GemmEpilogueLoadEarlySourceReleaseKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
