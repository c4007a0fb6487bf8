/// Broken: the load warp probes input.empty and, when it is told no, waits for input.full.
///
/// Its own side of the full barrier never moves on: it waits for data that only it can bring, or
/// goes
/// on and overwrites a stage that is being read.
///
/// Expected: MBAR_WAIT_PHASE_ALIASED. Twin: gemm.

#pragma once

#include "scenarios/broken/gemm_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct GemmSwappedTryWaitKernel : GemmKernel<M, Extents> {
  using Base = GemmKernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;
  using Input = typename Base::Input;
  using Accum = typename Base::Accum;

  static constexpr void load(M& machine, const Problem& problem, const Storage& smem) {
    Input input{machine, smem.input};
    for (const Tile tile : problem.tiles(machine)) {
      for (std::uint32_t k = 0; k < problem.k_tiles; ++k) {
        if (!input.try_acquire_producer().ready) {
          input.wait_producer();  // the fault: should be wait_consumer, the wait for input.empty
        }
        const std::uint32_t stage = input.producer_stage();
        const Mbarrier full = input.producer_mbar(stage);
        const auto tiles = smem.input.at(stage, 0);
        arm(machine, full, smem.input.full_bytes, SourceSite::current());
        load_slice(machine,
                   problem.a,
                   {tile.m, k},
                   tiles.a_tile(),
                   full,
                   smem.input.cluster,
                   SourceSite::current());
        load_slice(machine,
                   problem.b,
                   {tile.n, k},
                   tiles.b_tile(),
                   full,
                   smem.input.cluster,
                   SourceSite::current());
        input.producer_step();
      }
    }
  }
};

struct GemmSwappedTryWait : GemmTwin {
  static constexpr ScenarioInfo kInfo{"gemm_swapped_try_wait",
                                      ScenarioKind::kBroken,
                                      "the load warp waits for the other side's barrier",
                                      "MBAR_WAIT_PHASE_ALIASED",
                                      "gemm"};
  template <Machine M, class Extents>
  using Kernel = GemmSwappedTryWaitKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
