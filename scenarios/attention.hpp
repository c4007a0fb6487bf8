/// Scenario: O = softmax(Q * K^T / sqrt(d)) * V for each head: FlashAttention-4, forward; bf16 in
/// and out, or what its `Parts` say. A CTA works on two tiles of 128 queries at once, one softmax
/// warpgroup each: the tensor core has one tile's products to do while the other is in softmax.
///
/// Barrier             Arrivals per phase           Bytes   Completion means
/// q.full[t]           1   load, elected lane       Q tile  queries of tile t may be read
/// q.empty[t]          1   mma, tcgen05.commit      -       queries of tile t may be overwritten
/// kv.full[s]          1   load, elected lane       tile    stage s, keys or values, may be read
/// kv.empty[s]         1   mma, tcgen05.commit      -       stage s may be overwritten
/// scores.full[t]      1   mma, tcgen05.commit      -       S of tile t is complete
/// scores.replaced[t]  128 softmax, every lane      -       P is stored where S was
/// scores.empty[t]     1   mma, tcgen05.commit      -       P has been read: S may come again
/// accum.full[t]       1   mma, tcgen05.commit      -       O of tile t has taken P * V in
/// accum.empty[t]      128 correction, every lane   -       O is corrected, or has been read
/// stats.full[r]       128 softmax, every lane      -       a factor for each row may be read
/// stats.empty[r]      128 correction, every lane   -       the factors may be overwritten
/// tmem.done[0]        384 softmax, every lane      -       tensor memory may be freed
///                     (256) and correction (128)
///
/// P, of the type of Q, lies in the columns of S. Softmax keeps each row's maximum; where it grows,
/// correction multiplies O in tensor memory by the factor that softmax hands it through `stats`,
/// before P * V of the grown maximum may be added. Stages of `stats` belong to the tiles in turn.
///
/// With `causal` query i sees keys 0 to i. Keys right of the diagonal of a CTA's two tiles are not
/// loaded, so that tiles have different numbers of trips; the stages on it are masked. The first
/// tile has one trip more than it needs: the rings serve both tiles in turn.
///
/// With `window` query i sees no key before i - window + 1. Keys left of the first query's window
/// are not loaded. The first tile of keys may hold none that a row sees: softmax begins each row at
/// a finite maximum, so that such a tile weighs nothing. With `kv_heads` several heads of Q share
/// one of K and V: grouped-query attention.
///
/// CTAs, or pairs, of one head may be a cluster (`cluster_m`): each copies a slice of each tile of
/// keys or values to all of them, and a stage is freed by as many commits. All have the same trips,
/// as many as all their queries need.
///
/// Registers go from load, MMA and correction to softmax: 8 warps of 192, 4 of 88 and 4 of 40 are
/// the 16 of 128 that the CTA begins with. The idle warps are there for that: setmaxnreg is for
/// whole warpgroups.
///
/// Expected: clean in every interleaving, for any number of queries, keys, heads, CTAs and stages.

#pragma once

#include <cstdint>
#include <utility>

#include "scenarios/attention_launch.hpp"
#include "scenarios/attention_rows.hpp"

namespace warptwin::scenarios {

template <Machine M,
          class Extents,
          class Parts = AttentionParts,
          class StorageOf = AttentionStorage<Extents, Parts>>
struct AttentionKernel : AttentionRows<M, Extents, Parts, StorageOf> {
  using Base = AttentionRows<M, Extents, Parts, StorageOf>;
  using Storage = typename Base::Storage;
  using Problem = typename Base::Problem;
  using Element = typename Parts::Element;
  using Operands = typename Base::Operands;
  using Scores = typename Base::Scores;
  using Accum = typename Base::Accum;

  /// What the load warp has, and its steps. A wrong twin derives from it, and has one step anew.
  struct Load {
    constexpr Load(M& machine, const Problem& p, const Storage& storage)
        : problem{p},
          smem{storage},
          part{storage.kv.cluster.place_in_group(machine.cta_rank())},
          q{machine, storage.q},
          kv{machine, storage.kv} {}

    constexpr void queries(Tile tile, std::uint32_t t) {
      auto stage = q.acquire_producer();  // waits q.empty; the leader arms full, for both
      const std::uint32_t row = (tile.m * kAttentionTiles + t) * kAttentionTile;
      load_panels(stage, problem.q, row, tile.n * smem.head_dim, smem.queries(stage.index()));
      std::move(stage).release();
    }
    /// Of a tile of keys the CTA's part of the rows; `at` counts tiles of keys, and their heads.
    constexpr void keys(TileIndex at) {
      auto stage = kv.acquire_producer();  // waits kv.empty
      const WideTile<Element> to = smem.keys(stage.index());
      const std::uint32_t row = at.row * kAttentionTile + part * to.rows;
      load_shared(stage, problem.k, row, at.column * smem.head_dim, to);
      std::move(stage).release();
    }
    /// Of a tile of values the CTA's part of the columns.
    constexpr void values(TileIndex at) {
      auto stage = kv.acquire_producer();
      const WideTile<Element> to = smem.values(stage.index()).tile;
      const std::uint32_t column = at.column * smem.head_dim + part * to.columns;
      load_shared(stage, problem.v, at.row * kAttentionTile, column, to);
      std::move(stage).release();
    }

    /// As `load_panels`; in a larger cluster the CTA's slice, for all of it.
    constexpr void load_shared(auto& stage,
                               const typename M::TensorMap& map,
                               std::uint32_t row,
                               std::uint32_t column,
                               const WideTile<Element>& to) {
      if constexpr (Extents::kAlone) {
        load_panels(stage, map, row, column, to);
      } else {
        const ClusterShape& cluster = smem.kv.cluster;
        const auto slice = cluster.slice(Operand::kB, kv.machine().cta_rank());
        load_panels(stage, map, row, column, to, slice);
      }
    }

    const Problem& problem;
    const Storage& smem;
    std::uint32_t part;
    Operands q, kv;
  };

  static constexpr void load(M& machine, const Problem& problem, const Storage& smem) {
    load_tiles(machine, problem, smem, [] {});
  }
  /// The role, by the steps of `Steps`: `Load`, or what derives from it. Calls `begins()` when a
  /// tile begins.
  template <class Steps = Load>
  static constexpr void load_tiles(M& machine,
                                   const Problem& problem,
                                   const Storage& smem,
                                   const auto& begins) {
    load_by<Steps>(
        machine,
        problem,
        smem,
        [&](Tile tile) { return problem.first_key_tile(tile); },
        [&](Tile tile) { return problem.key_tiles(tile); },
        begins);
  }
  static constexpr void load_by(M& machine,
                                const Problem& problem,
                                const Storage& smem,
                                const auto& first,
                                const auto& trips) {
    load_by<Load>(machine, problem, smem, first, trips, [] {});
  }

  /// The role. It loads `trips(tile)` tiles of keys for the query tiles of an MMA's CTAs, the first
  /// of them `first(tile)`.
  template <class Steps>
  static constexpr void load_by(M& machine,
                                const Problem& problem,
                                const Storage& smem,
                                const auto& first,
                                const auto& trips,
                                const auto& begins) {
    machine.template setmaxnreg_dec<kOtherRegisters>();
    auto warp = Steps{machine, problem, smem};
    auto claimed = Base::claims(machine, smem);
    for (const Tile tile : Base::tiles(machine, problem, claimed)) {
      begins();
      const std::uint32_t head = problem.kv_head(tile);
      const std::uint32_t begin = first(tile);
      const std::uint32_t last = begin + trips(tile) - 1;
      warp.queries(tile, 0);
      warp.keys({begin, head});
      warp.queries(tile, 1);
      for (std::uint32_t j = begin; j < last; ++j) {
        warp.keys({j + 1, head});
        warp.values({j, head});
      }
      warp.values({last, head});
    }
    warp.q.drain_producer();  // no commit is on its way any more
    warp.kv.drain_producer();
  }

  /// What the MMA warp has, and its steps. A wrong twin derives from it, and has one step anew.
  struct Mma {
    constexpr Mma(M& m, const Storage& storage, const TmemAllocation& columns)
        : machine{m},
          smem{storage},
          tmem{columns},
          q{m, storage.q},
          kv{m, storage.kv},
          scores{m, storage.scores, columns},
          accum{m, storage.accum, columns.from_column(storage.accum_column())} {}

    constexpr void score(std::uint32_t t, std::uint32_t keys) {  // S = Q * K^T
      auto s = scores.acquire_mma_linear();                      // waits scores.empty
      s.multiply(smem.queries(t), smem.keys(keys), Accumulate::kNo);
      std::move(s).release();  // commits to scores.full
    }
    constexpr void weigh(std::uint32_t j, std::uint32_t values) {  // O += P * V
      auto p = scores.acquire_operand_linear();                    // waits scores.replaced
      auto o = accum.acquire_mma_linear();                         // waits accum.empty
      o.multiply(p.template operand<Element>(),
                 smem.values(values),
                 j == 0 ? Accumulate::kNo : Accumulate::kYes);
      std::move(o).release();  // commits to accum.full
      std::move(p).release();  // commits to scores.empty
    }
    constexpr void free_keys(auto&& keys) { std::move(keys).release(); }  // commits to kv.empty
    constexpr void drain() { scores.drain(); }

    M& machine;
    const Storage& smem;
    TmemAllocation tmem;
    Operands q, kv;
    Scores scores;
    Accum accum;
  };

  static constexpr void mma(M& machine, const Problem& problem, const Storage& smem) {
    mma_by<Mma>(machine, problem, smem);
  }

  /// The role, by the steps of `Steps`: `Mma`, or what derives from it.
  template <class Steps>
  static constexpr void mma_by(M& machine, const Problem& problem, const Storage& smem) {
    machine.template setmaxnreg_dec<kOtherRegisters>();
    const ClusterShape& cluster = smem.tmem.cluster;
    const auto tmem =
        TmemAllocation::allocate(machine, smem.tmem.word, smem.tmem_columns(), cluster.group);
    smem.tmem.hand_off.arrive(machine);
    smem.tmem.meet_peer(machine);
    auto warp = Steps{machine, smem, tmem};
    Operands& q = warp.q;
    Operands& kv = warp.kv;
    auto claimed = Base::claims(machine, smem);
    for (const Tile tile : Base::tiles(machine, problem, claimed)) {
      if (!cluster.is_leader(machine.cta_rank())) {
        continue;  // it learns which tiles there are, and that is all
      }
      const std::uint32_t key_tiles = problem.key_tiles(tile);
      auto first_keys = kv.acquire_consumer();  // waits kv.full
      for (std::uint32_t t = 0; t < kAttentionTiles; ++t) {
        q.wait_producer();  // waits q.full
        q.consumer_step();
        warp.score(t, first_keys.index());
      }
      std::move(first_keys).release();  // commits to kv.empty
      for (std::uint32_t j = 1; j < key_tiles; ++j) {
        auto keys = kv.acquire_consumer();
        auto values = kv.acquire_consumer();
        for (std::uint32_t t = 0; t < kAttentionTiles; ++t) {
          warp.weigh(j - 1, values.index());
          warp.score(t, keys.index());
        }
        warp.free_keys(std::move(keys));
        std::move(values).release();
      }
      for (std::uint32_t t = 0; t < kAttentionTiles; ++t) {
        commit_to_group(machine, q.consumer_mbar(t), cluster, SourceSite::current());  // q.empty
      }
      auto values = kv.acquire_consumer();
      for (std::uint32_t t = 0; t < kAttentionTiles; ++t) {
        warp.weigh(key_tiles - 1, values.index());
      }
      std::move(values).release();
    }
    if (cluster.is_leader(machine.cta_rank())) {
      warp.drain();
    }
    TmemDeallocBarrier<M, typename Storage::Tmem>{machine, smem.tmem}.complete_dealloc(tmem);
  }

  static constexpr void idle(M& machine, const Problem&, const Storage&) {
    machine.template setmaxnreg_dec<kOtherRegisters>();
  }
};

/// What the scenarios of every choice of types, and of either group, share.
template <class Parts, CtaGroup kGroup = CtaGroup::kOne>
struct AttentionOf : AttentionLaunch<Parts, kGroup> {
  template <Machine M, class Extents>
  using Kernel = AttentionKernel<M, Extents, Parts>;
};

struct Attention : AttentionOf<AttentionParts> {
  static constexpr ScenarioInfo kInfo{
      "attention", ScenarioKind::kClean, "FlashAttention-4 forward: softmax, correction, MMA, TMA"};
};

}  // namespace warptwin::scenarios
