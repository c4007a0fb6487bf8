/// Broken: the boxes of C are asked for with a tile's row and column exchanged.
///
/// Every barrier is right, and so are the tiles on the diagonal: a test of one tile sees nothing.
///
/// Expected: RESULT_WRONG. Twin: gemm_epilogue_load.

#pragma once

#include "scenarios/broken/gemm_epilogue_load_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct GemmEpilogueLoadSourceOfTransposedTileKernel : GemmEpilogueLoadKernel<M, Extents> {
  using Base = GemmEpilogueLoadKernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;

  static constexpr void epilogue_load(M& machine, const Problem& problem, const Storage& smem) {
    auto source = EpiLoadPipeline<M>{machine, smem.source};
    auto order = LoadOrderBarrier<M>{machine, smem.order};
    const SharedTile<bf16>& box_shape = smem.out.first;
    const std::uint32_t boxes = problem.extents.tile_n / box_shape.columns;
    for (const Tile tile : problem.tiles(machine)) {
      order.wait_and_step();
      const Tile from{tile.n, tile.m};  // the fault: {tile.m, tile.n} is meant
      for (std::uint32_t box = 0; box < boxes; ++box) {
        const Coordinates<2> at{
            {static_cast<std::int32_t>((from.n * boxes + box) * box_shape.columns),
             static_cast<std::int32_t>(from.m * box_shape.rows)}};
        auto stage = source.acquire_producer();
        stage.load(problem.c, at, smem.source.tile(stage.index()));
        std::move(stage).release();
      }
    }
  }
};

struct GemmEpilogueLoadSourceOfTransposedTile : GemmEpilogueLoadTwin {
  static constexpr ScenarioInfo kInfo{"gemm_epilogue_load_source_of_transposed_tile",
                                      ScenarioKind::kBroken,
                                      "a tile's row and column of C are exchanged",
                                      "RESULT_WRONG",
                                      "gemm_epilogue_load"};
  template <Machine M, class Extents>
  using Kernel = GemmEpilogueLoadSourceOfTransposedTileKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
