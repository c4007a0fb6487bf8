/// Broken: the epilogue adds a box of C and moves on without freeing its stage.
///
/// The epilogue-load warp stops when its ring is full, and everyone waits for it in the end.
///
/// Expected: DEADLOCK. Twin: gemm_epilogue_load.

#pragma once

#include "scenarios/broken/gemm_epilogue_load_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct GemmEpilogueLoadMissingSourceReleaseKernel : GemmEpilogueLoadKernel<M, Extents> {
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
        registers.add_scaled(smem.source_tile(stage.index()), problem.function.beta);
        machine.fence_proxy_async(ProxySpace::kSharedCta);
        std::move(stage).release_without_signal();  // the fault: nobody arrives on source.empty
        registers.store(writer.acquire());
        writer.store(problem.d, {tile.m, tile.n * boxes + box});
      }
      std::move(accum).release();
    }
    writer.drain();
    std::move(warp).release();
  }
};

struct GemmEpilogueLoadMissingSourceRelease : GemmEpilogueLoadTwin {
  static constexpr ScenarioInfo kInfo{"gemm_epilogue_load_missing_source_release",
                                      ScenarioKind::kBroken,
                                      "boxes of C are never freed",
                                      "DEADLOCK",
                                      "gemm_epilogue_load"};
  template <Machine M, class Extents>
  using Kernel = GemmEpilogueLoadMissingSourceReleaseKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
