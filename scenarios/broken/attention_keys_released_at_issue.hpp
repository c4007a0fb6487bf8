/// Broken: the MMA warp frees a stage of keys when it has issued the MMAs that read them.
///
/// They have not read them yet: the next values may come over them. (Of the values it would be
/// right: the wait for scores.empty has seen their MMAs complete.)
///
/// Expected: SMEM_WAR_ASYNC. Twin: attention.

#pragma once

#include "scenarios/broken/attention_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct AttentionKeysReleasedAtIssueKernel : AttentionKernel<M, Extents> {
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
      auto s = scores.acquire_mma_linear();
      s.multiply(smem.queries(t), smem.keys(keys), Accumulate::kNo);
      std::move(s).release();
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
        const Mbarrier empty = keys.mbar();
        std::move(keys).release_without_signal();
        machine.elect_one([&] { machine.mbarrier_arrive(empty); });  // the fault: no commit
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
    scores.drain();
    TmemDeallocBarrier<M, typename Storage::Tmem>{machine, smem.tmem}.complete_dealloc(tmem);
  }
};

struct AttentionKeysReleasedAtIssue : AttentionTwin {
  static constexpr ScenarioInfo kInfo{"attention_keys_released_at_issue",
                                      ScenarioKind::kBroken,
                                      "a stage of keys is freed at issue, not at completion",
                                      "SMEM_WAR_ASYNC",
                                      "attention"};
  template <Machine M, class Extents>
  using Kernel = AttentionKeysReleasedAtIssueKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
