/// Scenario: O = softmax(Q * K^T / sqrt(d)) * V for each head, bf16 in and out: FlashAttention-4,
/// forward. A CTA works on two tiles of 128 queries at once, one softmax warpgroup each: the tensor
/// core has one tile's products to do while the other is in softmax.
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
/// P, in bf16, lies in the columns of S. Softmax keeps each row's maximum; where it grows,
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
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "common/kernel/config_checks.hpp"
#include "common/kernel/reference.hpp"
#include "common/kernel/scenario.hpp"
#include "common/kernel/tile_scheduler.hpp"
#include "common/machine/extent.hpp"
#include "common/machine/machine.hpp"
#include "common/machine/roles.hpp"
#include "common/pipeline/producer_consumer_pipeline.hpp"
#include "common/sync/participants.hpp"
#include "common/tile/accum_tile.hpp"
#include "common/tile/in_place_pipeline.hpp"
#include "common/tile/online_softmax.hpp"
#include "common/tile/output_tile_pipeline.hpp"
#include "common/tile/row_tile.hpp"
#include "common/tile/tile_writer.hpp"
#include "common/tile/wide_tile.hpp"

namespace warptwin::scenarios {

/// Queries of one tile, and keys of one stage: the M and N of one MMA.
inline constexpr std::uint32_t kAttentionTile = 128;
/// Tiles of queries that a CTA works on at once.
inline constexpr std::uint32_t kAttentionTiles = 2;
/// Registers of a thread: when the CTA starts, and of each role afterwards.
inline constexpr std::uint32_t kAttentionRegisters = 128;
inline constexpr std::uint32_t kSoftmaxRegisters = 192;
inline constexpr std::uint32_t kCorrectionRegisters = 88;
inline constexpr std::uint32_t kOtherRegisters = 40;

template <std::uint32_t kHeadDim = kDynamic,
          std::uint32_t kStages = kDynamic,
          std::uint32_t kStatsStages = kDynamic>
struct AttentionExtents {
  [[no_unique_address]] Extent<kHeadDim> head_dim;
  [[no_unique_address]] Extent<kStages> stages;             // of keys and values together
  [[no_unique_address]] Extent<kStatsStages> stats_stages;  // of each tile
};

inline constexpr RoleTable kAttentionRoles{RoleWarps{Role::kSoftmax, 8},
                                           RoleWarps{Role::kCorrection, 4},
                                           RoleWarps{Role::kMma, 1},
                                           RoleWarps{Role::kLoad, 1},
                                           RoleWarps{Role::kIdle, 2}};

/// A CTA's shared memory.
template <class Extents>
struct AttentionStorage {
  using Operands = RingStorage<From<Role::kLoad, TmaBytes>, To<Role::kMma, UmmaCommit>>;
  using Scores =
      InPlacePipelineStorage<From<Role::kMma, UmmaCommit>, To<Role::kSoftmax, WarpgroupLanes>>;
  using Accum =
      OutputPipelineStorage<From<Role::kMma, UmmaCommit>, To<Role::kCorrection, EveryLane>>;
  using Stats = RingStorage<From<Role::kSoftmax, WarpgroupLanes>, To<Role::kCorrection, EveryLane>>;
  using Out = OutputTileStorage<bf16, Role::kCorrection>;
  using Tmem = TmemDeallocStorage<Role::kMma, Role::kSoftmax, Role::kCorrection>;

  constexpr AttentionStorage(auto& layout, const Extents& e)
      : head_dim{e.head_dim},
        q{layout, "q", kAttentionRoles, kAttentionTiles, tile_bytes(), kTileAlignment},
        kv{layout, "kv", kAttentionRoles, e.stages, tile_bytes(), kTileAlignment},
        out{layout, "out", kAttentionRoles, kAttentionTile, box_columns<bf16>(e.head_dim)},
        stats{layout,
              "stats",
              kAttentionRoles,
              kAttentionTiles * e.stats_stages,
              kAttentionTile * sizeof(float)},
        scores{layout, "scores", kAttentionRoles, {kAttentionTiles, kAttentionTile}},
        accum{layout, "accum", kAttentionRoles, {}, {kAttentionTiles, e.head_dim}},
        tmem{layout, "tmem", kAttentionRoles, {}} {}
  constexpr void init(Machine auto& machine) const {
    q.init(machine);
    kv.init(machine);
    stats.init(machine);
    scores.init(machine);
    accum.init(machine);
    tmem.init(machine);
  }

  constexpr std::uint32_t tile_bytes() const {
    return WideTile<bf16>{{}, kAttentionTile, head_dim}.bytes();
  }
  constexpr WideTile<bf16> queries(std::uint32_t tile) const {  // (tile, head_dim)
    return {q.tile(tile), kAttentionTile, head_dim};
  }
  constexpr WideTile<bf16> keys(std::uint32_t stage) const {  // (tile, head_dim)
    return {kv.tile(stage), kAttentionTile, head_dim};
  }
  /// They lie as keys do, and their rows are the K of P * V.
  constexpr MnMajorTile<bf16> values(std::uint32_t stage) const { return {keys(stage)}; }
  constexpr SharedTile<f32> factors(std::uint32_t stage) const {  // one for each row
    return {stats.tile(stage), kAttentionTile, 1, Swizzle::kNone};
  }
  /// Scores of both tiles, then both accumulators.
  static constexpr std::uint32_t accum_column() { return kAttentionTiles * kAttentionTile; }
  constexpr std::uint32_t tmem_columns() const { return accum_column() + accum.config.columns(); }

  std::uint32_t head_dim;
  Operands q;
  Operands kv;
  Out out;
  Stats stats;
  Scores scores;
  Accum accum;
  Tmem tmem;
};

/// How many heads of Q share a head of K and V. Throws ConfigError where that is no whole number.
inline std::uint32_t heads_sharing(const ParameterSet& p) {
  const std::uint32_t heads = p.u32("heads");
  const std::uint32_t kv_heads = p.u32("kv_heads") == 0 ? heads : p.u32("kv_heads");
  require(heads % kv_heads == 0,
          "heads=" + std::to_string(heads) + " do not share kv_heads=" + std::to_string(kv_heads) +
              " evenly; use a divisor of heads");
  return heads / kv_heads;
}

/// The keys that each query sees.
inline SeenKeys seen(const ParameterSet& p) {
  return {p.u32("causal") != 0, p.u32("window")};
}

template <Machine M, class Extents>
struct AttentionKernel {
  using Storage = AttentionStorage<Extents>;
  using Operands = PipelineOf<M, typename Storage::Operands>;
  using Scores = PipelineOf<M, typename Storage::Scores>;
  using Accum = PipelineOf<M, typename Storage::Accum>;
  using Stats = PipelineOf<M, typename Storage::Stats>;
  using Writer = TileWriter<M, bf16, Role::kCorrection>;
  using Rows = RowTile<M, kAttentionTile>;
  using Factors = typename OnlineSoftmax<M>::Values;
  static constexpr auto kRoles = kAttentionRoles;
  struct Problem {
    typename M::TensorMap q, k, v, o;  // boxes of one panel
    [[no_unique_address]] Extents extents;
    TileWalk tile_walk;      // pairs of query tiles, heads
    std::uint32_t kv_tiles;  // of one head
    std::uint32_t keys;
    std::uint32_t sharing;  // heads of Q that share a head of K and V
    std::uint32_t window;   // query i sees no key before i - window + 1; 0: any
    bool causal;
    float scale;  // of the scores, in powers of two
    float slack;  // growth of a maximum that is let pass, in powers of two
    constexpr StaticTileScheduler tiles(const M& machine) const { return {tile_walk, machine}; }
    /// The first tile of keys that a pair of query tiles sees.
    constexpr std::uint32_t first_key_tile(Tile tile) const {
      const std::uint32_t query = tile.m * kAttentionTiles * kAttentionTile;
      return window == 0 || query < window ? 0 : (query - window + 1) / kAttentionTile;
    }
    /// How many tiles of keys it sees.
    constexpr std::uint32_t key_tiles(Tile tile) const {
      const std::uint32_t end =
          causal ? std::min(kAttentionTiles * (tile.m + 1), kv_tiles) : kv_tiles;
      return end - first_key_tile(tile);
    }
    /// The head of K and V of a tile's head of Q.
    constexpr std::uint32_t kv_head(Tile tile) const { return tile.n / sharing; }
  };

  static Problem problem(const ParameterSet& p,
                         const Extents& e,
                         std::span<const typename M::TensorMap> maps,
                         std::span<const GlobalAddress>) {
    constexpr double kLog2E = 1.4426950408889634;
    return {maps[0],
            maps[1],
            maps[2],
            maps[3],
            e,
            TileGrid{ceil_div(p.u32("q"), kAttentionTiles * kAttentionTile), p.u32("heads")},
            ceil_div(p.u32("kv"), kAttentionTile),
            p.u32("kv"),
            heads_sharing(p),
            p.u32("window"),
            p.u32("causal") != 0,
            static_cast<float>(kLog2E / std::sqrt(p.u32("head_dim"))),
            static_cast<float>(p["slack"])};
  }

  /// The address of tensor memory, once the MMA warp has handed it over.
  static constexpr TmemAllocation tensor_memory(M& machine, const Storage& smem) {
    smem.tmem.hand_off.sync(machine);
    return TmemAllocation::from_shared(
        machine, smem.tmem.word, smem.tmem_columns(), CtaGroup::kOne);
  }

  static constexpr void load(M& machine, const Problem& problem, const Storage& smem) {
    load_by(
        machine,
        problem,
        smem,
        [&](Tile tile) { return problem.first_key_tile(tile); },
        [&](Tile tile) { return problem.key_tiles(tile); });
  }

  /// The role. It loads `trips(tile)` tiles of keys for a pair of query tiles, the first of them
  /// `first(tile)`.
  static constexpr void load_by(M& machine,
                                const Problem& problem,
                                const Storage& smem,
                                const auto& first,
                                const auto& trips) {
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
    for (const Tile tile : problem.tiles(machine)) {
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
      o.multiply(p.template operand<bf16>(),
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
    for (const Tile tile : problem.tiles(machine)) {
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

  static constexpr void softmax(M& machine, const Problem& problem, const Storage& smem) {
    softmax_by<OnlineSoftmax<M>>(machine, problem, smem);
  }

  /// The role, with the rows' maxima and sums in `Online`: OnlineSoftmax, or what derives from it.
  template <class Online>
  static constexpr void softmax_by(M& machine, const Problem& problem, const Storage& smem) {
    machine.template setmaxnreg_inc<kSoftmaxRegisters>();
    const TmemAllocation tmem = tensor_memory(machine, smem);
    const RingTurn turn{machine.warp_index() / kWarpsPerWarpgroup, kAttentionTiles};
    auto scores = Scores{machine, smem.scores, tmem, turn};
    auto stats = Stats{machine, smem.stats, turn};
    auto online = Online{problem.scale, problem.slack};
    auto s = Rows{machine};  // a row of S, then of P, in each lane
    const std::uint32_t row = kWarpLanes * (machine.warp_index() % kWarpsPerWarpgroup);
    const auto send = [&](const Factors& factors) {
      auto stage = stats.acquire_producer();  // waits stats.empty
      machine.st_shared(smem.factors(stage.index()), row, 0, factors);
      std::move(stage).release();  // arrives on stats.full
    };
    for (const Tile tile : problem.tiles(machine)) {
      online.reset();
      const std::uint32_t queries = tile.m * kAttentionTiles + turn.first;  // their tile
      const std::uint32_t first = problem.first_key_tile(tile);
      for (std::uint32_t j = 0; j < problem.key_tiles(tile); ++j) {
        auto stage = scores.acquire_replace_linear();  // waits scores.full
        s.load(stage.own_rows());
        mask(s, problem, queries, first + j, row);
        const Factors factors = online.raise(s);
        if (j > 0) {
          send(factors);  // O is corrected while the weights are computed
        }
        online.weigh(s);
        s.template store_packed<bf16>(stage.own_rows());
        std::move(stage).release();  // arrives on scores.replaced
      }
      send(online.inverse_sum());
    }
    TmemDeallocBarrier<M, typename Storage::Tmem>{machine, smem.tmem}.signal_complete();
  }

  /// Takes the scores away that do not count, of query tile `queries` and key tile `keys`; `row` is
  /// the warp's first.
  static constexpr void mask(Rows& s,
                             const Problem& problem,
                             std::uint32_t queries,
                             std::uint32_t keys,
                             std::uint32_t row) {
    constexpr float kNoScore = OnlineSoftmax<M>::kNoScore;
    if (keys + 1 == problem.kv_tiles) {
      s.fill_from(problem.keys - keys * kAttentionTile, kNoScore);
    }
    const auto ahead = static_cast<std::int32_t>((queries - keys) * kAttentionTile);
    const std::int32_t diagonal = ahead + static_cast<std::int32_t>(row);  // of the first row
    if (problem.causal && keys >= queries) {
      s.fill_right_of(diagonal, kNoScore);
    }
    const auto window = static_cast<std::int32_t>(problem.window);
    if (window != 0 && ahead + static_cast<std::int32_t>(kAttentionTile) > window) {
      s.fill_left_of(diagonal + 1 - window, kNoScore);
    }
  }

  static constexpr void correction(M& machine, const Problem& problem, const Storage& smem) {
    correct(machine, problem, smem, [](const Accum&, const Writer&, std::uint32_t) {});
  }

  /// The role. Calls `ends(accum, writer, t)` before it waits for the finished O of query tile t.
  static constexpr void correct(M& machine,
                                const Problem& problem,
                                const Storage& smem,
                                const auto& ends) {
    machine.template setmaxnreg_dec<kCorrectionRegisters>();
    const TmemAllocation tmem = tensor_memory(machine, smem);
    auto accum = Accum{machine, smem.accum, tmem.from_column(smem.accum_column())};
    auto stats = Stats{machine, smem.stats};
    auto writer = Writer{machine, smem.out};
    const auto receive = [&] {
      Factors factors;
      auto stage = stats.acquire_consumer();  // waits stats.full
      machine.ld_shared_row(smem.factors(stage.index()), writer.first_row(), 0, factors);
      std::move(stage).release();  // arrives on stats.empty
      return factors;
    };
    for (const Tile tile : problem.tiles(machine)) {
      const std::uint32_t turns = kAttentionTiles * problem.key_tiles(tile);
      for (std::uint32_t turn = kAttentionTiles; turn < turns; ++turn) {
        const Factors factors = receive();
        auto o = accum.acquire_epilogue_linear();  // waits accum.full
        rescale_rows(machine, o, factors, smem.head_dim);
        std::move(o).release();  // arrives on accum.empty: P * V may be added
      }
      for (std::uint32_t t = 0; t < kAttentionTiles; ++t) {
        const Factors factors = receive();
        ends(accum, writer, t);
        auto o = accum.acquire_epilogue_linear();
        write(machine, problem, writer, o, factors, {tile.m * kAttentionTiles + t, tile.n});
        std::move(o).release();  // the next tile's first P * V may overwrite it
      }
    }
    writer.drain();  // the stores are complete
    TmemDeallocBarrier<M, typename Storage::Tmem>{machine, smem.tmem}.signal_complete();
  }

  /// Writes O, divided by the sums of its weights, box by box; `at` counts tiles of one head.
  static constexpr void write(M& machine,
                              const Problem& problem,
                              Writer& writer,
                              const typename Accum::Epilogue& o,
                              const Factors& inverse_sums,
                              TileIndex to) {
    auto registers = AccumTile<M>{machine};
    const std::uint32_t columns = AccumTile<M>::kColumnsMax;
    const std::uint32_t boxes = problem.extents.head_dim / columns;
    for (std::uint32_t box = 0; box < boxes; ++box) {
      registers.load(o, box * columns, columns);
      registers.scale_rows(inverse_sums, columns);
      registers.store(writer.acquire());  // (tile, box_columns) bf16, written by all four warps
      writer.store(problem.o, {to.row, to.column * boxes + box});
    }
  }

  static constexpr void idle(M& machine, const Problem&, const Storage&) {
    machine.template setmaxnreg_dec<kOtherRegisters>();
  }
};

struct Attention {
  static constexpr ScenarioInfo kInfo{
      "attention", ScenarioKind::kClean, "FlashAttention-4 forward: softmax, correction, MMA, TMA"};
  using StaticExtents = AttentionExtents<128, 3, 1>;
  template <Machine M, class Extents>
  using Kernel = AttentionKernel<M, Extents>;

  static std::span<const Parameter> parameters() {
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
        {"ctas", "CTAs that share the tiles; 0: one for each", 0, 0, 1 << 16},
    };
    return kParameters;
  }
  static AttentionExtents<> extents(const ParameterSet& p) {
    return {p.u32("head_dim"), p.u32("stages"), p.u32("stats_stages")};
  }
  static Workload workload(const ParameterSet& p) {
    const AttentionExtents<> e = extents(p);
    const std::uint32_t dim = e.head_dim;
    require(
        dim == 64 || dim == 128,
        "head_dim=" + std::to_string(dim) + " is not made of boxes of 64 columns; use 64 or 128");
    check_stages_fit<AttentionStorage<AttentionExtents<>>>(e);
    const std::uint32_t q = p.u32("q");
    const std::uint32_t kv = p.u32("kv");
    const std::uint32_t window = p.u32("window");
    require(window == 0 || q < kv + window,
            "window=" + std::to_string(window) + " leaves the last of q=" + std::to_string(q) +
                " no key of kv=" + std::to_string(kv) + "; use a window above q - kv");
    const std::uint32_t columns = p.u32("heads") * dim;
    const std::uint32_t kv_columns = columns / heads_sharing(p);
    TensorSpec o = matrix("o", TensorUse::kOutput, q, columns);
    o.error_share = 0x1p-8;  // the weights are rounded to bf16
    const TileGrid tiles{ceil_div(q, kAttentionTiles * kAttentionTile), p.u32("heads")};
    constexpr std::uint32_t kPanel = 64;
    return {.tensors = {matrix("q", TensorUse::kInput, q, columns),
                        matrix("k", TensorUse::kInput, kv, kv_columns),
                        matrix("v", TensorUse::kInput, kv, kv_columns),
                        o},
            .maps = {{0, kAttentionTile, kPanel, Swizzle::k128B},
                     {1, kAttentionTile, kPanel, Swizzle::k128B},
                     {2, kAttentionTile, kPanel, Swizzle::k128B},
                     {3, kAttentionTile, kPanel, Swizzle::k128B}},
            .clusters = tiles.ctas(p.u32("ctas")),
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

}  // namespace warptwin::scenarios
