/// Broken: the epilogue stores an accumulator whose last group is still under way.
///
/// The last step of K is missing from some rows.
///
/// Expected: WGMMA_ACC_READ_EARLY. Twin: gemm_wgmma.

#pragma once

#include "scenarios/broken/gemm_wgmma_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct GemmWgmmaReadBeforeWaitKernel : GemmWgmmaKernel<M, Extents> {
  using Base = GemmWgmmaKernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;
  using Input = typename Base::Input;

  static constexpr void mma(M& machine, const Problem& problem, const Storage& smem) {
    const Extents& e = problem.extents;
    const std::uint32_t first_row = machine.warp_index() / kWarpsPerWarpgroup * kWgmmaRows;
    machine.template setmaxnreg_inc<232>();
    auto input = Input{machine, smem.input}.consumer();
    auto writer = TileWriter<M, bf16, Role::kMma>{machine, smem.out};
    typename M::template Accumulator<decltype(e.tile_n)> d{machine, e.tile_n};
    for (const Tile tile : problem.tiles(machine)) {
      for (std::uint32_t step = 0; step < problem.k_steps.count; ++step) {
        auto stage = input.acquire_stage();
        const auto tiles = stage.payload();
        multiply_group(machine, d, tiles.a_tile().tile, first_row, tiles.b_tile().tile, step != 0);
        if (step + 1 != problem.k_steps.count) {
          machine.template wgmma_wait_group<0>();
          std::move(stage).release();
          continue;
        }
        const auto part = writer.acquire();
        machine.st_shared_accumulator(part, machine.warp_index() * kWgmmaWarpRows, d, 0);
        machine.template wgmma_wait_group<0>(d);  // The fault: stands behind the store.
        writer.store(problem.d, {tile.m, tile.n});
        std::move(stage).release();
      }
    }
    writer.drain();
  }
};

struct GemmWgmmaReadBeforeWait : GemmWgmmaTwin {
  static constexpr ScenarioInfo kInfo{"gemm_wgmma_read_before_wait",
                                      ScenarioKind::kBroken,
                                      "the accumulator is stored before its last group is done",
                                      "WGMMA_ACC_READ_EARLY",
                                      "gemm_wgmma"};
  template <Machine M, class Extents>
  using Kernel = GemmWgmmaReadBeforeWaitKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
