/// The roles of attention that work on rows of scores and of O: softmax and correction.

#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <utility>

#include "common/kernel/tile_scheduler.hpp"
#include "common/kernel/work_iterator.hpp"
#include "common/tile/accum_tile.hpp"
#include "common/tile/row_tile.hpp"

#include "scenarios/attention_storage.hpp"

namespace warptwin::scenarios {

/// The launch, and the roles of softmax and correction.
template <Machine M,
          class Extents,
          class Parts = AttentionParts,
          class StorageOf = AttentionStorage<Extents, Parts>>
struct AttentionRows {
  using Storage = StorageOf;
  using Operands = PipelineOf<M, typename Storage::Operands>;
  using Scores = PipelineOf<M, typename Storage::Scores>;
  using Accum = PipelineOf<M, typename Storage::Accum>;
  using Stats = PipelineOf<M, typename Storage::Stats>;
  using Writer = TileWriter<M, typename Parts::Result, Role::kCorrection>;
  using Rows = RowTile<M, kAttentionTile>;
  using Factors = typename OnlineSoftmax<M>::Values;
  static constexpr auto kRoles = Storage::kRoles;
  struct Problem {
    typename M::TensorMap q, k, v, o;  // boxes of one panel
    [[no_unique_address]] Extents extents;
    TileWalk tile_walk;      // two query tiles of a CTA, heads
    std::uint32_t kv_tiles;  // of one head
    std::uint32_t keys;
    std::uint32_t sharing;  // heads of Q that share a head of K and V
    std::uint32_t window;   // query i sees no key before i - window + 1; 0: any
    bool causal;
    float scale;  // of the scores, in powers of two
    float slack;  // growth of a maximum that is let pass, in powers of two
    constexpr StaticTileScheduler tiles(const M& machine) const { return {tile_walk, machine}; }
    /// Query tiles before those of the cluster that a CTA's are of.
    constexpr std::uint32_t query_tiles_before(Tile tile) const {
      const std::uint32_t ctas = extents.cluster().m;
      return tile.m / ctas * ctas * kAttentionTiles;
    }
    /// The first tile of keys that one of their queries sees.
    constexpr std::uint32_t first_key_tile(Tile tile) const {
      const std::uint32_t query = query_tiles_before(tile) * kAttentionTile;
      return window == 0 || query < window ? 0 : (query - window + 1) / kAttentionTile;
    }
    /// How many tiles of keys they see.
    constexpr std::uint32_t key_tiles(Tile tile) const {
      const std::uint32_t end = query_tiles_before(tile) + extents.cluster().m * kAttentionTiles;
      return (causal ? std::min(end, kv_tiles) : kv_tiles) - first_key_tile(tile);
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
            {{ceil_div(p.u32("q"), kAttentionTiles * kAttentionTile), p.u32("heads")}, e.cluster()},
            ceil_div(p.u32("kv"), kAttentionTile),
            p.u32("kv"),
            heads_sharing(p),
            p.u32("window"),
            p.u32("causal") != 0,
            static_cast<float>(kLog2E / std::sqrt(p.u32("head_dim"))),
            static_cast<float>(p["slack"])};
  }

  /// A warp's view of the responses; of nothing where no tile is claimed.
  static constexpr auto claims(M& machine, const Storage& smem) {
    if constexpr (requires { smem.clc; }) {
      return PipelineOf<M, typename Storage::Clc>{machine, smem.clc};
    } else {
      return nullptr;
    }
  }
  /// The tiles of this warp's CTA: its own, and those that it claims.
  static constexpr auto tiles(M& machine, const Problem& problem, auto& claims) {
    if constexpr (requires { claims.asks(); }) {
      return WorkIterator{ClusterTiles{problem.tile_walk, machine.cta_rank()}, machine, claims};
    } else {
      return problem.tiles(machine);
    }
  }

  /// The address of tensor memory, once the MMA warp has handed it over.
  static constexpr TmemAllocation tensor_memory(M& machine, const Storage& smem) {
    smem.tmem.hand_off.sync(machine);
    return TmemAllocation::from_shared(
        machine, smem.tmem.word, smem.tmem_columns(), smem.tmem.cluster.group);
  }

  static constexpr void softmax(M& machine, const Problem& problem, const Storage& smem) {
    softmax_by<OnlineSoftmax<M>>(machine, problem, smem);
  }

  /// The role, with the rows' maxima and sums in `Online`: OnlineSoftmax, or what derives from it.
  /// `Stored`: of the weights.
  template <class Online, class Stored = typename Parts::Element>
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
    auto claimed = claims(machine, smem);
    for (const Tile tile : tiles(machine, problem, claimed)) {
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
        s.template store_packed<Stored>(stage.own_rows());
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
    auto claimed = claims(machine, smem);
    for (const Tile tile : tiles(machine, problem, claimed)) {
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
      registers.store(writer.acquire());  // (tile, box_columns), written by all four warps
      writer.store(problem.o, {to.row, to.column * boxes + box});
    }
  }
};

}  // namespace warptwin::scenarios
