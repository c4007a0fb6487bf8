/// Broken: the next S is computed in the columns of P without a wait for the MMA that reads P.
///
/// Both MMAs are of one thread, and today they execute in order; the manual promises that for an
/// accumulator only, not for an operand that becomes one.
///
/// Expected: TMEM_PIPE_ORDER. Twin: attention.

#pragma once

#include "scenarios/broken/attention_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct AttentionScoresBeforeWeightedKernel : AttentionKernel<M, Extents> {
  using Base = AttentionKernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;
  using Operands = typename Base::Operands;
  using Scores = typename Base::Scores;
  using Accum = typename Base::Accum;

  static constexpr void mma(M& machine, const Problem& problem, const Storage& smem) {
    machine.template setmaxnreg_dec<kOtherRegisters>();
    const auto tmem =
        TmemAllocation::allocate(machine, smem.tmem.word, smem.tmem_columns(), CtaGroup::kOne);
    smem.tmem.hand_off.arrive(machine);
    auto q = Operands{machine, smem.q};
    auto kv = Operands{machine, smem.kv};
    auto scores = Scores{machine, smem.scores, tmem};
    auto accum = Accum{machine, smem.accum, tmem.from_column(smem.accum_column())};
    const auto score = [&](std::uint32_t t, std::uint32_t keys) {
      // The fault: no wait for scores.empty.
      multiply_tiles(machine,
                     CtaGroup::kOne,
                     tmem.stage(smem.scores.config, t).address(),
                     smem.queries(t).panel(0),
                     smem.keys(keys).panel(0),
                     Accumulate::kNo,
                     SourceSite::current());
      machine.tcgen05_commit(CtaGroup::kOne, smem.scores.barriers.full[t]);
    };
    const auto weigh = [&](std::uint32_t j, std::uint32_t values) {
      auto p = scores.acquire_operand_linear();
      auto o = accum.acquire_mma_linear();
      o.multiply(p.template operand<bf16>(),
                 smem.values(values),
                 j == 0 ? Accumulate::kNo : Accumulate::kYes);
      std::move(o).release();
      std::move(p).release();
    };
    for ([[maybe_unused]] const Tile tile : problem.tiles(machine)) {
      auto first_keys = kv.acquire_consumer();
      for (std::uint32_t t = 0; t < kAttentionTiles; ++t) {
        q.wait_producer();
        q.consumer_step();
        score(t, first_keys.index());
      }
      std::move(first_keys).release();
      for (std::uint32_t j = 1; j < problem.kv_tiles; ++j) {
        auto keys = kv.acquire_consumer();
        auto values = kv.acquire_consumer();
        for (std::uint32_t t = 0; t < kAttentionTiles; ++t) {
          weigh(j - 1, values.index());
          score(t, keys.index());
        }
        std::move(keys).release();
        std::move(values).release();
      }
      for (std::uint32_t t = 0; t < kAttentionTiles; ++t) {
        machine.tcgen05_commit(CtaGroup::kOne, q.consumer_mbar(t));
      }
      auto values = kv.acquire_consumer();
      for (std::uint32_t t = 0; t < kAttentionTiles; ++t) {
        weigh(problem.kv_tiles - 1, values.index());
      }
      std::move(values).release();
    }
    TmemDeallocBarrier<M, typename Storage::Tmem>{machine, smem.tmem}.complete_dealloc(tmem);
  }
};

struct AttentionScoresBeforeWeighted : AttentionTwin {
  static constexpr ScenarioInfo kInfo{"attention_scores_before_weighted",
                                      ScenarioKind::kBroken,
                                      "the next scores are computed while P is still read",
                                      "TMEM_PIPE_ORDER",
                                      "attention"};
  template <Machine M, class Extents>
  using Kernel = AttentionScoresBeforeWeightedKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
