/// Broken: a tile of C is one stage, and the epilogue frees it after each box, as if that were one.
///
/// The first box's arrivals complete the phase: the next tile may land on the boxes not yet read.
///
/// Expected: MBAR_SURPLUS_ARRIVAL. Twin: gemm_epilogue_load.

#pragma once

#include "scenarios/broken/gemm_epilogue_load_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct GemmEpilogueLoadTileFreedEachBoxKernel : GemmEpilogueLoadKernel<M, Extents> {
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
      auto stage = source.acquire_consumer();
      for (std::uint32_t box = 0; box < boxes; ++box) {
        registers.load(accum, box * columns, columns);
        registers.add_scaled(smem.source_tile(stage.index(), box), problem.function.beta);
        machine.fence_proxy_async(ProxySpace::kSharedCta);
        stage.arrive();  // the fault: the stage has boxes that are still to be read
        registers.store(writer.acquire());
        writer.store(problem.d, {tile.m, tile.n * boxes + box});
      }
      std::move(accum).release();
      std::move(stage).release_without_signal();
    }
    writer.drain();
    std::move(warp).release();
  }
};

struct GemmEpilogueLoadTileFreedEachBox : GemmEpilogueLoadTwin {
  static constexpr ScenarioInfo kInfo{"gemm_epilogue_load_tile_freed_each_box",
                                      ScenarioKind::kBroken,
                                      "a tile of C is freed once a box",
                                      "MBAR_SURPLUS_ARRIVAL",
                                      "gemm_epilogue_load"};
  template <Machine M, class Extents>
  using Kernel = GemmEpilogueLoadTileFreedEachBoxKernel<M, Extents>;

  static std::span<const Parameter> parameters() {
    static constexpr auto kParameters = gemm_epilogue_load_twin_parameters(EpilogueSource::kTiles);
    return kParameters;
  }
};

}  // namespace warptwin::scenarios
