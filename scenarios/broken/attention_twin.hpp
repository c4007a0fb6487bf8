/// What the wrong twins of `attention` share: a shape at which each of their faults shows. One CTA
/// computes two pairs of query tiles over three tiles of keys, so that every ring goes round, and
/// no phase of a pair begins where that of the last began. And a softmax role by its steps, of
/// which a twin replaces one; and an MMA role that frees keys in its own CTA alone.

#pragma once

#include "scenarios/attention.hpp"

namespace warptwin::scenarios {

template <std::int64_t kCausal,
          std::int64_t kWindow = 0,
          std::int64_t kHeads = 1,
          std::int64_t kKvHeads = 0>
struct AttentionTwinOf : Attention {
  static std::span<const Parameter> parameters() {
    static constexpr Parameter kParameters[] = {
        {"q", "rows of Q and O", 512, 1, 1 << 20},
        {"kv", "rows of K and V", kWindow == 0 ? 384 : 512, 1, 1 << 20},
        {"heads", "heads, side by side in Q, K, V and O", kHeads, 1, 1 << 10},
        {"kv_heads", "heads of K and V, shared by those of Q; 0: as many", kKvHeads, 0, 1 << 10},
        {"causal", "1: query i sees keys 0 to i", kCausal, kCausal, kCausal},
        {"window", "query i sees no key before i - window + 1; 0: any", kWindow, 0, 1 << 20},
        {"head_dim", "columns of a head: 64 or 128", 64, 64, 128},
        {"cta_q", "rows of Q a CTA works on at once", 256, 256, 256},
        {"tile_kv", "keys, or values, in one stage", 128, 128, 128},
        {"stages", "stages of the ring of keys and values", 3, 2, 64},
        {"stats_stages", "factors of each tile under way to correction", 1, 1, 64},
        {"cluster_m", "CTAs of a cluster, which share keys and values", 1, 1, 16},
        {"slack", "growth of a row's maximum that is let pass, in powers of two", 0, 0, 16},
        {"ctas", "CTAs that share the tiles; 0: one for each", 1, 0, 1 << 16},
    };
    return kParameters;
  }
};
using AttentionTwin = AttentionTwinOf<0>;
using CausalAttentionTwin = AttentionTwinOf<1>;
using WindowAttentionTwin = AttentionTwinOf<1, 100>;
using GroupedAttentionTwin = AttentionTwinOf<0, 0, 6, 2>;

/// What a softmax warp has, and its steps: those of `attention`, but for its masks, which no twin
/// needs. A twin derives from it, and has one step anew.
template <Machine M, class Extents>
struct AttentionSoftmaxSteps {
  using Base = AttentionKernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;
  using Factors = typename Base::Factors;

  constexpr AttentionSoftmaxSteps(M& m,
                                  const Problem& problem,
                                  const Storage& storage,
                                  const TmemAllocation& columns)
      : machine{m},
        smem{storage},
        tmem{columns},
        turn{m.warp_index() / kWarpsPerWarpgroup, kAttentionTiles},
        row{kWarpLanes * (m.warp_index() % kWarpsPerWarpgroup)},
        scores{m, storage.scores, columns, turn},
        stats{m, storage.stats, turn},
        online{problem.scale, problem.slack},
        s{m} {}

  static constexpr void take_registers(M& m) { m.template setmaxnreg_inc<kSoftmaxRegisters>(); }
  constexpr auto acquire() { return scores.acquire_replace_linear(); }
  constexpr void load(const auto& stage) { s.load(stage.own_rows()); }
  constexpr Factors raise() { return online.raise(s); }
  constexpr void send(const Factors& factors) {
    auto stage = stats.acquire_producer();
    machine.st_shared(smem.factors(stage.index()), row, 0, factors);
    std::move(stage).release();
  }
  constexpr void weigh(const auto& stage) {
    online.weigh(s);
    s.template store_packed<bf16>(stage.own_rows());
  }
  constexpr void hand_over(auto&& stage) { std::move(stage).release(); }

  M& machine;
  const Storage& smem;
  TmemAllocation tmem;
  RingTurn turn;
  std::uint32_t row;
  typename Base::Scores scores;
  typename Base::Stats stats;
  OnlineSoftmax<M> online;
  typename Base::Rows s;
};

/// `attention` with a softmax role by the steps of `Steps`.
template <Machine M, class Extents, class Steps>
struct AttentionTwinKernel : AttentionKernel<M, Extents> {
  using Base = AttentionKernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;

  static constexpr void softmax(M& machine, const Problem& problem, const Storage& smem) {
    Steps::take_registers(machine);
    auto warp = Steps{machine, problem, smem, Base::tensor_memory(machine, smem)};
    for ([[maybe_unused]] const Tile tile : problem.tiles(machine)) {
      weigh_keys(warp, problem);
    }
    TmemDeallocBarrier<M, typename Storage::Tmem>{machine, smem.tmem}.signal_complete();
  }

  /// All keys, for one tile of queries.
  static constexpr void weigh_keys(Steps& warp, const Problem& problem) {
    warp.online.reset();
    for (std::uint32_t j = 0; j < problem.kv_tiles; ++j) {
      auto stage = warp.acquire();
      warp.load(stage);
      const auto factors = warp.raise();
      if (j > 0) {
        warp.send(factors);
      }
      warp.weigh(stage);
      warp.hand_over(std::move(stage));
    }
    warp.send(warp.online.inverse_sum());
  }
};

/// `attention`, of either group, whose MMA warp frees a stage of keys by a commit to its own CTA.
template <Machine M, class Extents>
struct AttentionKeysFreedInOwnCtaKernel : AttentionKernel<M, Extents> {
  using Base = AttentionKernel<M, Extents>;

  struct Mma : Base::Mma {
    using Base::Mma::Mma;
    constexpr void free_keys(auto&& keys) {
      const Mbarrier empty = keys.mbar();
      std::move(keys).release_without_signal();
      this->machine.tcgen05_commit(Extents::own().group, empty);  // the fault: not to all
    }
  };

  static constexpr void mma(M& machine,
                            const typename Base::Problem& problem,
                            const typename Base::Storage& smem) {
    Base::template mma_by<Mma>(machine, problem, smem);
  }
};

}  // namespace warptwin::scenarios
