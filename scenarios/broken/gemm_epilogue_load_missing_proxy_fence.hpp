/// Broken: the epilogue frees a box of C right after its lanes have read it.
///
/// The reads are generic, the copy that fills the stage again is not: without a proxy fence it may
/// overtake them.
///
/// Expected: PROXY_FENCE_MISSING_WAR. Twin: gemm_epilogue_load.

#pragma once

#include "scenarios/broken/gemm_epilogue_load_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct GemmEpilogueLoadMissingProxyFenceKernel : GemmEpilogueLoadKernel<M, Extents> {
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
        std::move(stage).release();  // the fault: no fence.proxy.async before it
        registers.store(writer.acquire());
        writer.store(problem.d, {tile.m, tile.n * boxes + box});
      }
      std::move(accum).release();
    }
    writer.drain();
    std::move(warp).release();
  }
};

struct GemmEpilogueLoadMissingProxyFence : GemmEpilogueLoadTwin {
  static constexpr ScenarioInfo kInfo{"gemm_epilogue_load_missing_proxy_fence",
                                      ScenarioKind::kBroken,
                                      "no proxy fence between the reads of C and its next copy",
                                      "PROXY_FENCE_MISSING_WAR",
                                      "gemm_epilogue_load"};
  template <Machine M, class Extents>
  using Kernel = GemmEpilogueLoadMissingProxyFenceKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
