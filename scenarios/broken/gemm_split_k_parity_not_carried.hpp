/// Broken: the epilogue begins the source ring anew with every tile.
///
/// Stage and parity of the first tile are those of a fresh ring, of the next one they are not.
///
/// Expected: MBAR_WAIT_PHASE_ALIASED. Twin: gemm_split_k.

#pragma once

#include "scenarios/broken/gemm_split_k_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct GemmSplitKParityNotCarriedKernel : GemmSplitKKernel<M, Extents> {
  using Base = GemmSplitKKernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;
  using Accum = typename Base::Accum;
  using Work = typename Base::Work;

  static constexpr void epilogue(M& machine, const Problem& problem, const Storage& smem) {
    auto warp = EpilogueWarp<M, Accum>::create(machine, smem.accum, smem.tmem);
    auto out = TileWriter<M, bf16>{machine, smem.out};
    auto partial = TileWriter<M, f32>{machine, smem.partial};
    auto registers = AccumTile<M>{machine};
    const std::uint32_t columns = smem.out.first.columns;
    const std::uint32_t boxes = problem.extents.tile_n / columns;
    for (const Tile at : problem.tiles(machine)) {
      const Work work = problem.work(at);
      auto source = EpiLoadPipeline<M>{machine, smem.source};  // the fault: not before the loop
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
      if (!work.last) {
        Base::hand_over(machine, smem, partial, work);
      }
    }
    out.drain();
    std::move(warp).release();
  }
};

struct GemmSplitKParityNotCarried : GemmSplitKTwin {
  static constexpr ScenarioInfo kInfo{
      "gemm_split_k_parity_not_carried",
      ScenarioKind::kBroken,
      "stage and parity of the source ring are not carried over tiles",
      "MBAR_WAIT_PHASE_ALIASED",
      "gemm_split_k"};
  template <Machine M, class Extents>
  using Kernel = GemmSplitKParityNotCarriedKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
