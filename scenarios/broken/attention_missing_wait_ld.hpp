/// Broken: softmax works on scores that tcgen05.ld has not brought yet, and stores P over them.
///
/// What the registers held before is weighed, now and then; P may overwrite scores on their way.
///
/// Expected: TMEM_WAR. Twin: attention.

#pragma once

#include "scenarios/broken/attention_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct AttentionMissingWaitLdKernel : AttentionKernel<M, Extents> {
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
    typename M::template Fragment<32> s;
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
        machine.tcgen05_ld_32x32b(s, stage.own_rows());
        // The fault: machine.tcgen05_wait_ld(s) is missing. (One load of four shows it.)
        const Factors factors = online.raise(s);
        if (j > 0) {
          send(factors);
        }
        online.weigh(s);
        machine.tcgen05_st_32x32b(stage.own_rows(), s.template packed<bf16>());
        machine.tcgen05_wait_st();
        std::move(stage).release();
      }
      send(online.inverse_sum());
    }
    TmemDeallocBarrier<M, typename Storage::Tmem>{machine, smem.tmem}.signal_complete();
  }
};

struct AttentionMissingWaitLd : AttentionTwin {
  static constexpr ScenarioInfo kInfo{"attention_missing_wait_ld",
                                      ScenarioKind::kBroken,
                                      "scores are used and overwritten before tcgen05.wait::ld",
                                      "TMEM_WAR",
                                      "attention"};
  template <Machine M, class Extents>
  using Kernel = AttentionMissingWaitLdKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
