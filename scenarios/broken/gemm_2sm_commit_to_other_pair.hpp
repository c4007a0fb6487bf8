/// Broken: the leader of each pair of a cluster tells the other pair that its accumulator is
/// complete.
///
/// Every barrier gets its one arrival a phase. But an epilogue reads when the other pair has
/// multiplied, and not its own.
///
/// Expected: TMEM_READ_BEFORE_COMMIT. Twin: gemm_2sm.

#pragma once

#include "common/kernel/parameter_table.hpp"

#include "scenarios/broken/gemm_2sm_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct Gemm2smCommitToOtherPairKernel : Gemm2smKernel<M, Extents> {
  using Base = Gemm2smKernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;
  using Input = typename Base::Input;
  using Accum = typename Base::Accum;

  static constexpr void mma(M& machine, const Problem& problem, const Storage& smem) {
    auto warp = MmaWarp<M, Accum>::create(machine, smem.accum, smem.tmem);
    const std::uint32_t other = machine.cta_rank() ^ 2U;
    if (warp.is_leader()) {
      auto input = Input{machine, smem.input}.consumer();
      for ([[maybe_unused]] const Tile tile : problem.tiles(machine)) {
        auto accum = warp.acquire_mma_linear();
        for (std::uint32_t k = 0; k < problem.k_tiles; ++k) {
          auto stage = input.acquire_stage();
          accum.multiply(stage.payload(), k == 0 ? Accumulate::kNo : Accumulate::kYes);
          std::move(stage).release();
        }
        // The fault: the pair of this CTA is meant.
        machine.tcgen05_commit_multicast(
            CtaGroup::kTwo, accum.mbar(), smem.input.cluster.pair(other));
        std::move(accum).release_without_signal();
      }
    }
    std::move(warp).release();
  }
};

struct Gemm2smCommitToOtherPair : Gemm2smTwin {
  static constexpr ScenarioInfo kInfo{"gemm_2sm_commit_to_other_pair",
                                      ScenarioKind::kBroken,
                                      "the commits of two pairs' accumulators are swapped",
                                      "TMEM_READ_BEFORE_COMMIT",
                                      "gemm_2sm"};
  template <Machine M, class Extents>
  using Kernel = Gemm2smCommitToOtherPairKernel<M, Extents>;

  static std::span<const Parameter> parameters() {
    static const auto kParameters =
        extended(Gemm2smTwin::parameters(),
                 {{"cluster_m", "CTAs of a cluster along M: two pairs", 4, 4, 4}});
    return kParameters;
  }
};

}  // namespace warptwin::scenarios
