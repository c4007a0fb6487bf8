/// Broken: the MMA warp releases input stages without a commit.
///
/// Nobody arrives on input.empty: the load warp stops after one lap of the ring.
///
/// Expected: DEADLOCK. Twin: gemm.

#pragma once

#include "scenarios/broken/gemm_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct GemmMissingInputCommitKernel : GemmKernel<M, Extents> {
  using Base = GemmKernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;
  using Input = typename Base::Input;
  using Accum = typename Base::Accum;

  static constexpr void mma(M& machine, const Problem& problem, const Storage& smem) {
    auto warp = MmaWarp<M, Accum>::create(machine, smem.accum, smem.tmem);
    auto input = Input{machine, smem.input}.consumer();
    for ([[maybe_unused]] const Tile tile : problem.tiles(machine)) {
      auto accum = warp.acquire_mma_linear();
      for (std::uint32_t k = 0; k < problem.k_tiles; ++k) {
        auto stage = input.acquire_stage();
        accum.multiply(stage.payload(), k == 0 ? Accumulate::kNo : Accumulate::kYes);
        std::move(stage).release_without_signal();  // the fault: no commit
      }
      std::move(accum).release();
    }
    std::move(warp).release();
  }
};

struct GemmMissingInputCommit : GemmTwin {
  static constexpr ScenarioInfo kInfo{"gemm_missing_input_commit",
                                      ScenarioKind::kBroken,
                                      "input stages are never freed",
                                      "DEADLOCK",
                                      "gemm"};
  template <Machine M, class Extents>
  using Kernel = GemmMissingInputCommitKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
