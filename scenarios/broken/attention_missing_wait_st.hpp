/// Broken: softmax hands P to the MMA before tcgen05.wait::st.
///
/// The MMA multiplies what of S is still there.
///
/// Expected: TMEM_ST_NO_WAIT. Twin: attention.

#pragma once

#include "scenarios/broken/attention_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct AttentionMissingWaitStKernel : AttentionKernel<M, Extents> {
  using Base = AttentionKernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;
  using Scores = typename Base::Scores;
  using Stats = typename Base::Stats;
  using Factors = typename Base::Factors;

  static constexpr void softmax(M& machine, const Problem& problem, const Storage& smem) {
    machine.template setmaxnreg_inc<kSoftmaxRegisters>();
    const TmemAllocation tmem = Base::tensor_memory(machine, smem);
    const RingTurn turn{machine.warp_index() / kWarpsPerWarpgroup, kAttentionTiles};
    auto scores = Scores{machine, smem.scores, tmem, turn};
    auto stats = Stats{machine, smem.stats, turn};
    auto online = OnlineSoftmax<M>{problem.scale, problem.slack};
    typename M::template Fragment<32> s[4];
    const std::uint32_t row = kWarpLanes * (machine.warp_index() % kWarpsPerWarpgroup);
    const auto send = [&](const Factors& factors) {
      auto stage = stats.acquire_producer();
      machine.st_shared(smem.factors(stage.index()), row, 0, factors);
      std::move(stage).release();
    };
    for ([[maybe_unused]] const Tile tile : problem.tiles(machine)) {
      online.reset();
      for (std::uint32_t j = 0; j < problem.kv_tiles; ++j) {
        auto stage = scores.acquire_replace_linear();
        for (std::uint32_t i = 0; i < 4; ++i) {
          machine.tcgen05_ld_32x32b(s[i], stage.own_rows().at_column(32 * i));
          machine.tcgen05_wait_ld(s[i]);
        }
        const Factors factors = online.raise(s[0]);
        if (j > 0) {
          send(factors);
        }
        for (std::uint32_t i = 0; i < 4; ++i) {
          machine.tcgen05_st_32x32b(stage.own_rows().at_column(16 * i),
                                    s[i].template packed<bf16>());
        }
        // The fault: machine.tcgen05_wait_st() is missing.
        std::move(stage).release();
      }
      send(online.inverse_sum());
    }
    TmemDeallocBarrier<M, typename Storage::Tmem>{machine, smem.tmem}.signal_complete();
  }
};

struct AttentionMissingWaitSt : AttentionTwin {
  static constexpr ScenarioInfo kInfo{"attention_missing_wait_st",
                                      ScenarioKind::kBroken,
                                      "probabilities are handed over before tcgen05.wait::st",
                                      "TMEM_ST_NO_WAIT",
                                      "attention"};
  template <Machine M, class Extents>
  using Kernel = AttentionMissingWaitStKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
