/// Broken: the MMA warp probes input.full and, when it is told no, waits for input.empty.
///
/// Its own side of the empty barrier never moves on: the wait passes, and tiles are read that have
/// not come; or it waits for a commit that only it can make.
///
/// Expected: MBAR_TRYWAIT_UNCHECKED. Twin: gemm.

#pragma once

#include "scenarios/broken/gemm_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct GemmMmaSwappedTryWaitKernel : GemmKernel<M, Extents> {
  using Base = GemmKernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;
  using Input = typename Base::Input;
  using Accum = typename Base::Accum;

  static constexpr void mma(M& machine, const Problem& problem, const Storage& smem) {
    auto warp = MmaWarp<M, Accum>::create(machine, smem.accum, smem.tmem);
    Input input{machine, smem.input};
    for ([[maybe_unused]] const Tile tile : problem.tiles(machine)) {
      auto accum = warp.acquire_mma_linear();
      for (std::uint32_t k = 0; k < problem.k_tiles; ++k) {
        if (!input.try_acquire_consumer().ready) {
          input.wait_consumer();  // the fault: should be wait_producer, the wait for input.full
        }
        auto stage = input.template claim_consumer<To<Role::kMma, UmmaCommit>>();
        accum.multiply(stage.payload(), k == 0 ? Accumulate::kNo : Accumulate::kYes);
        std::move(stage).release();
      }
      std::move(accum).release();
    }
    std::move(warp).release();
  }
};

struct GemmMmaSwappedTryWait : GemmTwin {
  static constexpr ScenarioInfo kInfo{"gemm_mma_swapped_try_wait",
                                      ScenarioKind::kBroken,
                                      "the MMA warp waits for the other side's barrier",
                                      "MBAR_TRYWAIT_UNCHECKED",
                                      "gemm"};
  template <Machine M, class Extents>
  using Kernel = GemmMmaSwappedTryWaitKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
