/// Broken: of two accumulators each has the other's full barrier.
///
/// The epilogue reads the first when the second is complete, too: late, so that the MMA can be a
/// phase ahead of its wait (ORDER_PASS). The last of three tiles it waits for in vain.
///
/// Expected: DEADLOCK. Twin: gemm.

#pragma once

#include "common/kernel/parameter_table.hpp"

#include "scenarios/broken/gemm_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct GemmCommitToOtherAccumKernel : GemmKernel<M, Extents> {
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
      const Mbarrier other = smem.accum.barriers.full[1 - accum.index()];
      machine.tcgen05_commit(CtaGroup::kOne, other);  // the fault: accum.mbar() is meant
      std::move(accum).release_without_signal();
    }
    std::move(warp).release();
  }
};

struct GemmCommitToOtherAccum : GemmTwin {
  static constexpr ScenarioInfo kInfo{"gemm_commit_to_other_accum",
                                      ScenarioKind::kBroken,
                                      "the commits of two accumulators are swapped",
                                      "DEADLOCK",
                                      "gemm"};
  template <Machine M, class Extents>
  using Kernel = GemmCommitToOtherAccumKernel<M, Extents>;

  static std::span<const Parameter> parameters() {
    static const auto kParameters =
        extended(GemmTwin::parameters(), {{"m", "rows of A and D", 128, 1, 1 << 20}});
    return kParameters;
  }
};

}  // namespace warptwin::scenarios
