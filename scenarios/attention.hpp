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
/// Registers go from load, MMA and correction to softmax: 8 warps of 192, 4 of 88 and 4 of 40 are
/// the 16 of 128 that the CTA begins with. The idle warps are there for that: setmaxnreg is for
/// whole warpgroups.
///
/// Expected: clean in every interleaving, for any number of queries, keys, heads, CTAs and stages.

#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "common/kernel/parameter_table.hpp"

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
  using Operands = typename Base::Operands;
  using Scores = typename Base::Scores;
  using Accum = typename Base::Accum;

  static constexpr void load(M& machine, const Problem& problem, const Storage& smem) {
    load_tiles(machine, problem, smem, [] {});
  }
  /// The role. Calls `begins()` when a tile begins.
  static constexpr void load_tiles(M& machine,
                                   const Problem& problem,
                                   const Storage& smem,
                                   const auto& begins) {
    load_by(
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
    load_by(machine, problem, smem, first, trips, [] {});
  }

  /// The role. It loads `trips(tile)` tiles of keys for a pair of query tiles, the first of them
  /// `first(tile)`.
  static constexpr void load_by(M& machine,
                                const Problem& problem,
                                const Storage& smem,
                                const auto& first,
                                const auto& trips,
                                const auto& begins) {
    machine.template setmaxnreg_dec<kOtherRegisters>();
    auto q = Operands{machine, smem.q};
    auto kv = Operands{machine, smem.kv};
    const std::uint32_t dim = smem.head_dim;
    const auto bring =
        [&](Operands& ring, const auto& map, std::uint32_t row, std::uint32_t column, auto tile) {
          auto stage = ring.acquire_producer();  // waits empty, arms full
          load_panels(stage, map, row, column, (smem.*tile)(stage.index()));
          std::move(stage).release();
        };
    const auto load_queries = [&](Tile tile, std::uint32_t t) {
      const std::uint32_t row = (tile.m * kAttentionTiles + t) * kAttentionTile;
      bring(q, problem.q, row, tile.n * dim, &Storage::queries);
    };
    const auto load_kv = [&](const auto& map, Tile tile, std::uint32_t j) {
      const std::uint32_t row = (first(tile) + j) * kAttentionTile;
      bring(kv, map, row, problem.kv_head(tile) * dim, &Storage::keys);
    };
    const auto load_keys = [&](Tile tile, std::uint32_t j) { load_kv(problem.k, tile, j); };
    const auto load_values = [&](Tile tile, std::uint32_t j) { load_kv(problem.v, tile, j); };
    auto claimed = Base::claims(machine, smem);
    for (const Tile tile : Base::tiles(machine, problem, claimed)) {
      begins();
      load_queries(tile, 0);
      load_keys(tile, 0);
      load_queries(tile, 1);
      const std::uint32_t key_tiles = trips(tile);
      for (std::uint32_t j = 1; j < key_tiles; ++j) {
        load_keys(tile, j);
        load_values(tile, j - 1);
      }
      load_values(tile, key_tiles - 1);
    }
    q.drain();  // no commit is on its way any more
    kv.drain();
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
      o.multiply(p.template operand<typename Parts::Element>(),
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
    const auto tmem =
        TmemAllocation::allocate(machine, smem.tmem.word, smem.tmem_columns(), CtaGroup::kOne);
    smem.tmem.hand_off.arrive(machine);
    auto warp = Steps{machine, smem, tmem};
    Operands& q = warp.q;
    Operands& kv = warp.kv;
    auto claimed = Base::claims(machine, smem);
    for (const Tile tile : Base::tiles(machine, problem, claimed)) {
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
        machine.tcgen05_commit(CtaGroup::kOne, q.consumer_mbar(t));  // q.empty
      }
      auto values = kv.acquire_consumer();
      for (std::uint32_t t = 0; t < kAttentionTiles; ++t) {
        warp.weigh(key_tiles - 1, values.index());
      }
      std::move(values).release();
    }
    warp.drain();
    TmemDeallocBarrier<M, typename Storage::Tmem>{machine, smem.tmem}.complete_dealloc(tmem);
  }

  static constexpr void idle(M& machine, const Problem&, const Storage&) {
    machine.template setmaxnreg_dec<kOtherRegisters>();
  }
};

/// What the scenarios of every choice of types share.
template <class Parts>
struct AttentionOf {
  using StaticExtents = AttentionExtents<128, 3, 1>;
  template <Machine M, class Extents>
  using Kernel = AttentionKernel<M, Extents, Parts>;

  static std::span<const Parameter> parameters() {
    static const auto kParameters =
        extended(shapes(), {{"ctas", "CTAs that share the tiles; 0: one for each", 0, 0, 1 << 16}});
    return kParameters;
  }
  /// The parameters that say nothing of who shares the tiles.
  static std::span<const Parameter> shapes() {
    static constexpr Parameter kParameters[] = {
        {"q", "rows of Q and O", 512, 1, 1 << 20, "cta_q"},
        {"kv", "rows of K and V", 384, 1, 1 << 20, "tile_kv"},
        {"heads", "heads, side by side in Q, K, V and O", 1, 1, 1 << 10},
        {"kv_heads", "heads of K and V, shared by those of Q; 0: as many", 0, 0, 1 << 10},
        {"causal", "1: query i sees keys 0 to i", 0, 0, 1},
        {"window", "query i sees no key before i - window + 1; 0: any", 0, 0, 1 << 20},
        {"head_dim", "columns of a head: 64 or 128", 128, 64, 128},
        {"cta_q", "rows of Q a CTA works on at once", 256, 256, 256},
        {"tile_kv", "keys, or values, in one stage", 128, 128, 128},
        {"stages", "stages of the ring of keys and values", 3, 2, 64},
        {"stats_stages", "factors of each tile under way to correction", 1, 1, 64},
        {"slack", "growth of a row's maximum that is let pass, in powers of two", 0, 0, 16},
    };
    return kParameters;
  }
  static AttentionExtents<> extents(const ParameterSet& p) {
    return {p.u32("head_dim"), p.u32("stages"), p.u32("stats_stages")};
  }
  static Workload workload(const ParameterSet& p) {
    check_stages_fit<AttentionStorage<AttentionExtents<>, Parts>>(extents(p));
    return workload_of(p, p.u32("ctas"));
  }
  /// `clusters` of them; 0: one for each tile.
  static Workload workload_of(const ParameterSet& p, std::uint32_t clusters) {
    const std::uint32_t dim = p.u32("head_dim");
    require(
        dim == 64 || dim == 128,
        "head_dim=" + std::to_string(dim) + " is not made of boxes of 64 columns; use 64 or 128");
    const std::uint32_t q = p.u32("q");
    const std::uint32_t kv = p.u32("kv");
    const std::uint32_t window = p.u32("window");
    require(window == 0 || q < kv + window,
            "window=" + std::to_string(window) + " leaves the last of q=" + std::to_string(q) +
                " no key of kv=" + std::to_string(kv) + "; use a window above q - kv");
    const std::uint32_t columns = p.u32("heads") * dim;
    const std::uint32_t kv_columns = columns / heads_sharing(p);
    constexpr ElementType kType = Parts::Element::kType;
    TensorSpec o = matrix("o", TensorUse::kOutput, q, columns, Parts::Result::kType);
    o.error_share = Parts::kErrorShare;
    const TileGrid tiles{ceil_div(q, kAttentionTiles * kAttentionTile), p.u32("heads")};
    using Tile = WideTile<typename Parts::Element>;
    const auto panel = Tile{{}, kAttentionTile, dim}.panel(0);
    return {.tensors = {matrix("q", TensorUse::kInput, q, columns, kType),
                        matrix("k", TensorUse::kInput, kv, kv_columns, kType),
                        matrix("v", TensorUse::kInput, kv, kv_columns, kType),
                        o},
            .maps = {{0, panel.rows, panel.columns, panel.swizzle},
                     {1, panel.rows, panel.columns, panel.swizzle},
                     {2, panel.rows, panel.columns, panel.swizzle},
                     tile_map<typename Parts::Result>(3, kAttentionTile, 64)},
            .clusters = tiles.ctas(clusters),
            .registers_per_thread = kAttentionRegisters,
            .flops = 4 * attended_pairs(q, kv, seen(p)) * columns};
  }
  static void reference(const ParameterSet& p, std::span<HostTensor> tensors) {
    const std::uint32_t dim = p.u32("head_dim");
    const std::uint32_t sharing = heads_sharing(p);
    for (std::uint32_t head = 0; head < p.u32("heads"); ++head) {
      const AttentionHead at{dim, head * dim, head / sharing * dim};
      attention_reference(tensors[0], tensors[1], tensors[2], at, seen(p), tensors[3]);
    }
  }
};

struct Attention : AttentionOf<AttentionParts> {
  static constexpr ScenarioInfo kInfo{
      "attention", ScenarioKind::kClean, "FlashAttention-4 forward: softmax, correction, MMA, TMA"};
};

}  // namespace warptwin::scenarios
