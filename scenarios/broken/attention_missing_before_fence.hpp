/// Broken: softmax arrives on `scores.replaced` without a tcgen05 fence before it.
///
/// wait::st says that P is there for this warp; the fence that it is before the MMA of another.
///
/// Expected: TMEM_FENCE_MISSING. Twin: attention.

#pragma once

#include "scenarios/broken/attention_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct AttentionMissingBeforeFenceKernel : AttentionKernel<M, Extents> {
  using Base = AttentionKernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;
  using Stats = typename Base::Stats;
  using Factors = typename Base::Factors;

  static constexpr void softmax(M& machine, const Problem& problem, const Storage& smem) {
    machine.template setmaxnreg_inc<kSoftmaxRegisters>();
    const TmemAllocation tmem = Base::tensor_memory(machine, smem);
    const RingTurn turn{machine.warp_index() / kWarpsPerWarpgroup, kAttentionTiles};
    const TmemAddress own_rows = tmem.stage(smem.scores.config, turn.first)
                                     .address()
                                     .at_lane(kWarpLanes * (machine.warp_index() % 4));
    auto stats = Stats{machine, smem.stats, turn};
    auto online = OnlineSoftmax<M>{problem.scale, problem.slack};
    auto s = typename Base::Rows{machine};
    const std::uint32_t row = kWarpLanes * (machine.warp_index() % kWarpsPerWarpgroup);
    const auto send = [&](const Factors& factors) {
      auto stage = stats.acquire_producer();
      machine.st_shared(smem.factors(stage.index()), row, 0, factors);
      std::move(stage).release();
    };
    PipelineState state = turn.begin();
    for ([[maybe_unused]] const Tile tile : problem.tiles(machine)) {
      online.reset();
      for (std::uint32_t j = 0; j < problem.kv_tiles; ++j) {
        acquire(machine,
                smem.scores.barriers.full[turn.first],
                state.full_phase(),
                kAcquireCta,
                SourceSite::current());
        machine.tcgen05_fence_after_thread_sync();
        turn.step(state, kAttentionTiles);
        s.load(own_rows);
        const Factors factors = online.raise(s);
        if (j > 0) {
          send(factors);
        }
        online.weigh(s);
        s.template store_packed<bf16>(own_rows);
        // The fault: machine.tcgen05_fence_before_thread_sync() is missing.
        machine.mbarrier_arrive(smem.scores.replaced[turn.first]);
      }
      send(online.inverse_sum());
    }
    TmemDeallocBarrier<M, typename Storage::Tmem>{machine, smem.tmem}.signal_complete();
  }
};

struct AttentionMissingBeforeFence : AttentionTwin {
  static constexpr ScenarioInfo kInfo{"attention_missing_before_fence",
                                      ScenarioKind::kBroken,
                                      "no tcgen05 fence before the arrival that hands P over",
                                      "TMEM_FENCE_MISSING",
                                      "attention"};
  template <Machine M, class Extents>
  using Kernel = AttentionMissingBeforeFenceKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
