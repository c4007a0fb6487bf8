/// Broken: the MMA warp commits the accumulator by hand, and `release` commits it again.
///
/// accum.full completes two phases a tile: the epilogue reads an accumulator that is being
/// computed.
///
/// Expected: MBAR_SURPLUS_ARRIVAL. Twin: gemm.

#pragma once

#include "scenarios/broken/gemm_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct GemmDoubleCommitKernel : GemmKernel<M, Extents> {
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
        std::move(stage).release();
      }
      machine.tcgen05_commit(CtaGroup::kOne, accum.mbar());  // the fault: release commits too
      std::move(accum).release();
    }
    std::move(warp).release();
  }
};

struct GemmDoubleCommit : GemmTwin {
  static constexpr ScenarioInfo kInfo{"gemm_double_commit",
                                      ScenarioKind::kBroken,
                                      "an accumulator is committed twice",
                                      "MBAR_SURPLUS_ARRIVAL",
                                      "gemm"};
  template <Machine M, class Extents>
  using Kernel = GemmDoubleCommitKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
