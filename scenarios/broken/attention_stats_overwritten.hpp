/// Broken: softmax writes the next factors without waiting until correction has read the last.
///
/// With one slot a tile, O shrinks by a factor that was meant for the next tile of keys.
///
/// Expected: SMEM_RACE. Twin: attention.

#pragma once

#include "scenarios/broken/attention_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct AttentionStatsOverwrittenKernel : AttentionKernel<M, Extents> {
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
    auto s = typename Base::Rows{machine};
    const std::uint32_t row = kWarpLanes * (machine.warp_index() % kWarpsPerWarpgroup);
    const auto send = [&](const Factors& factors) {
      // The fault: stats.wait_consumer() is missing.
      const std::uint32_t slot = stats.producer_stage();
      machine.st_shared(smem.factors(slot), row, 0, factors);
      machine.mbarrier_arrive(stats.producer_mbar(slot));
      stats.producer_step();
    };
    for ([[maybe_unused]] const Tile tile : problem.tiles(machine)) {
      online.reset();
      for (std::uint32_t j = 0; j < problem.kv_tiles; ++j) {
        auto stage = scores.acquire_replace_linear();
        s.load(stage.own_rows());
        const Factors factors = online.raise(s);
        if (j > 0) {
          send(factors);
        }
        online.weigh(s);
        s.template store_packed<bf16>(stage.own_rows());
        std::move(stage).release();
      }
      send(online.inverse_sum());
    }
    TmemDeallocBarrier<M, typename Storage::Tmem>{machine, smem.tmem}.signal_complete();
  }
};

struct AttentionStatsOverwritten : AttentionTwin {
  static constexpr ScenarioInfo kInfo{"attention_stats_overwritten",
                                      ScenarioKind::kBroken,
                                      "the slot of the factors has no back-pressure",
                                      "SMEM_RACE",
                                      "attention"};
  template <Machine M, class Extents>
  using Kernel = AttentionStatsOverwrittenKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
