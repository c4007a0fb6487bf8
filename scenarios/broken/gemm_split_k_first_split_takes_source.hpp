/// Broken: the first split takes boxes of the sum so far as the others do.
///
/// There is none: the epilogue-load warp brings nothing for it, and the two are out of step.
///
/// Expected: DEADLOCK. Twin: gemm_split_k.

#pragma once

#include "scenarios/broken/gemm_split_k_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct GemmSplitKFirstSplitTakesSourceKernel : GemmSplitKKernel<M, Extents> {
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
        auto stage = source.acquire_consumer();  // the fault: also of the first split
        registers.add_scaled(smem.source_tile(stage.index()), 1.0F);
        machine.fence_proxy_async(ProxySpace::kSharedCta);
        std::move(stage).release();
        if (work.last) {
          registers.store(out.acquire());
          out.store(problem.d, to);
        } else {
          registers.store(partial.acquire());
          partial.store(problem.workspace, to);
        }
      }
      std::move(accum).release();
      if (!work.last) {
        Base::hand_over(machine, smem, partial, work);
      }
    }
    out.drain();
    std::move(warp).release();
  }
};

struct GemmSplitKFirstSplitTakesSource : GemmSplitKTwin {
  static constexpr ScenarioInfo kInfo{"gemm_split_k_first_split_takes_source",
                                      ScenarioKind::kBroken,
                                      "the first split waits for a sum that nobody brings",
                                      "DEADLOCK",
                                      "gemm_split_k"};
  template <Machine M, class Extents>
  using Kernel = GemmSplitKFirstSplitTakesSourceKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
