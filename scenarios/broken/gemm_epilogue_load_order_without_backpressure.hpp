/// Broken: the load warp says how far it is on one barrier, and does not wait to be heard.
///
/// Accumulators and stages let it go on by several short tiles: then the parity that the
/// epilogue-load warp waits for has come and gone.
///
/// Expected: MBAR_WAIT_PHASE_ALIASED. Twin: gemm_epilogue_load.

#pragma once

#include "scenarios/broken/gemm_epilogue_load_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct GemmEpilogueLoadOrderWithoutBackpressureKernel : GemmEpilogueLoadKernel<M, Extents> {
  using Base = GemmEpilogueLoadKernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;
  using Input = typename Base::Input;

  static constexpr void load(M& machine, const Problem& problem, const Storage& smem) {
    auto input = Input{machine, smem.input}.producer();
    const std::uint32_t first_steps = std::min(smem.input.barriers.stages, problem.k_tiles);
    for (const Tile tile : problem.tiles(machine)) {
      for (std::uint32_t k = 0; k < problem.k_tiles; ++k) {
        auto stage = input.acquire_stage();
        stage.load(problem.a, {tile.m, k}, stage.payload().a_tile());
        stage.load(problem.b, {tile.n, k}, stage.payload().b_tile());
        std::move(stage).release();
        if (k + 1 == first_steps) {
          // The fault: nothing holds the load warp back until the tile before has been seen.
          machine.elect_one([&] { machine.mbarrier_arrive(smem.order.barriers.full[0]); });
        }
      }
    }
    input.drain();
  }

  static constexpr void epilogue_load(M& machine, const Problem& problem, const Storage& smem) {
    auto source = EpiLoadPipeline<M>{machine, smem.source};
    const SharedTile<bf16>& box_shape = smem.out.first;
    const std::uint32_t boxes = problem.extents.tile_n / box_shape.columns;
    std::uint32_t number = 0;
    for (const Tile tile : problem.tiles(machine)) {
      machine.mbarrier_wait_parity(smem.order.barriers.full[0], WaitPhase::number(number++));
      machine.sync_warp();
      for (std::uint32_t box = 0; box < boxes; ++box) {
        const Coordinates<2> at{
            {static_cast<std::int32_t>((tile.n * boxes + box) * box_shape.columns),
             static_cast<std::int32_t>(tile.m * box_shape.rows)}};
        auto stage = source.acquire_producer();
        stage.load(problem.c, at, smem.source.tile(stage.index()));
        std::move(stage).release();
      }
    }
  }
};

struct GemmEpilogueLoadOrderWithoutBackpressure : GemmEpilogueLoadTwin {
  static constexpr ScenarioInfo kInfo{"gemm_epilogue_load_order_without_backpressure",
                                      ScenarioKind::kBroken,
                                      "the load order barrier has no empty side",
                                      "MBAR_WAIT_PHASE_ALIASED",
                                      "gemm_epilogue_load"};
  template <Machine M, class Extents>
  using Kernel = GemmEpilogueLoadOrderWithoutBackpressureKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
