/// Broken: softmax asks for more registers than the other roles give back.
///
/// 8 warps of 200, 4 of 88 and 4 of 40 are 64 more than the 16 of 128 there are: the last warp
/// waits for ever.
///
/// Expected: SETMAXNREG_POOL. Twin: attention.

#pragma once

#include "scenarios/broken/attention_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct AttentionRegistersAbovePoolKernel : AttentionKernel<M, Extents> {
  using Base = AttentionKernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;
  using Scores = typename Base::Scores;
  using Stats = typename Base::Stats;
  using Factors = typename Base::Factors;

  static constexpr void softmax(M& machine, const Problem& problem, const Storage& smem) {
    machine.template setmaxnreg_inc<kSoftmaxRegisters + 8>();  // the fault
    const TmemAllocation tmem = Base::tensor_memory(machine, smem);
    const RingTurn turn{machine.warp_index() / kWarpsPerWarpgroup, kAttentionTiles};
    auto scores = Scores{machine, smem.scores, tmem, turn};
    auto stats = Stats{machine, smem.stats, turn};
    auto online = OnlineSoftmax<M>{problem.scale, problem.slack};
    auto s = typename Base::Rows{machine};
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

struct AttentionRegistersAbovePool : AttentionTwin {
  static constexpr ScenarioInfo kInfo{"attention_registers_above_pool",
                                      ScenarioKind::kBroken,
                                      "the roles share more registers than there are",
                                      "SETMAXNREG_POOL",
                                      "attention"};
  template <Machine M, class Extents>
  using Kernel = AttentionRegistersAbovePoolKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
