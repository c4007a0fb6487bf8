/// Broken: softmax begins its rings anew with every pair of query tiles.
///
/// Three tiles of keys leave each barrier in an odd phase; the new rings wait for an even one.
///
/// Expected: MBAR_WAIT_PHASE_ALIASED. Twin: attention.

#pragma once

#include "scenarios/broken/attention_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct AttentionParityNotCarriedKernel : AttentionKernel<M, Extents> {
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
    auto online = OnlineSoftmax<M>{problem.scale, problem.slack};
    auto s = typename Base::Rows{machine};
    const std::uint32_t row = kWarpLanes * (machine.warp_index() % kWarpsPerWarpgroup);
    for ([[maybe_unused]] const Tile tile : problem.tiles(machine)) {
      auto scores = Scores{machine, smem.scores, tmem, turn};  // the fault: before the loop
      auto stats = Stats{machine, smem.stats, turn};
      const auto send = [&](const Factors& factors) {
        auto stage = stats.acquire_producer();
        machine.st_shared(smem.factors(stage.index()), row, 0, factors);
        std::move(stage).release();
      };
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

struct AttentionParityNotCarried : AttentionTwin {
  static constexpr ScenarioInfo kInfo{
      "attention_parity_not_carried",
      ScenarioKind::kBroken,
      "the phases of the rings are not carried over to the next tile",
      "MBAR_WAIT_PHASE_ALIASED",
      "attention"};
  template <Machine M, class Extents>
  using Kernel = AttentionParityNotCarriedKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
