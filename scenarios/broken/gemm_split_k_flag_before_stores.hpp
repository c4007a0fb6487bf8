/// Broken: a split says that its sum lies in the workspace when its stores have only been read from
/// shared memory.
///
/// The next split may bring in what was there before.
///
/// Expected: GMEM_RAW_NO_WAIT. Twin: gemm_split_k.

#pragma once

#include "scenarios/broken/gemm_split_k_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct GemmSplitKFlagBeforeStoresKernel : GemmSplitKKernel<M, Extents> {
  using Base = GemmSplitKKernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;
  using Accum = typename Base::Accum;
  using Work = typename Base::Work;

  static constexpr void epilogue(M& machine, const Problem& problem, const Storage& smem) {
    auto warp = EpilogueWarp<M, Accum>::create(machine, smem.accum, smem.tmem);
    auto source = EpiLoadPipeline<M>{machine, smem.source};
    auto out = TileWriter<M, bf16>{machine, smem.out};
    auto partial = TileWriter<M, f32>{machine, smem.partial};
    auto registers = AccumTile<M>{machine};
    const std::uint32_t columns = smem.out.first.columns;
    const std::uint32_t boxes = problem.extents.tile_n / columns;
    for (const Tile at : problem.tiles(machine)) {
      const Work work = problem.work(at);
      auto accum = warp.acquire_epilogue_linear();
      for (std::uint32_t box = 0; box < boxes; ++box) {
        const TileIndex to{work.tile.m, work.tile.n * boxes + box};
        registers.load(accum, box * columns, columns);
        if (!work.first) {
          auto stage = source.acquire_consumer();
          registers.add_scaled(smem.source_tile(stage.index()), 1.0F);
          machine.fence_proxy_async(ProxySpace::kSharedCta);
          std::move(stage).release();
        }
        if (work.last) {
          registers.store(out.acquire());
          out.store(problem.d, to);
        } else {
          registers.store(partial.acquire());
          partial.store(problem.workspace, to);
        }
      }
      std::move(accum).release();
      if (!work.last && machine.warp_index() == smem.partial.store_warp) {
        machine.template cp_async_bulk_wait_group_read<0>();  // the fault: with .read
        machine.elect_one(
            [&] { machine.st_release_global_u32(work.summed.at, work.summed.value); });
      }
    }
    out.drain();
    std::move(warp).release();
  }
};

struct GemmSplitKFlagBeforeStores : GemmSplitKTwin {
  static constexpr ScenarioInfo kInfo{"gemm_split_k_flag_before_stores",
                                      ScenarioKind::kBroken,
                                      "the word of a split is set before its stores are complete",
                                      "GMEM_RAW_NO_WAIT",
                                      "gemm_split_k"};
  template <Machine M, class Extents>
  using Kernel = GemmSplitKFlagBeforeStoresKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
