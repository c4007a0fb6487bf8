/// Scenario: D = A * B^T + beta * C, or A * B^T and a bias for each column: gemm, and a fourth role
/// that brings the epilogue what it adds, through a ring of its own.
///
/// Barrier          Arrivals per phase                Bytes   Completion means
/// input.full[s]    1   load, elected lane            A + B   stage s may be read
/// input.empty[s]   1   mma, tcgen05.commit           -       stage s may be overwritten
/// accum.full[a]    1   mma, tcgen05.commit           -       accumulator a is complete
/// accum.empty[a]   128 epilogue, every lane          -       accumulator a may be overwritten
/// tmem.done[0]     128 epilogue, every lane          -       tensor memory may be freed
/// source.full[c]   1   epilogue_load, elected lane   part    part c of the source may be read
/// source.empty[c]  128 epilogue, every lane          -       part c may be overwritten
/// order.full[o]    1   load, elected lane            -       the tile's first copies are under way
/// order.empty[o]   1   epilogue_load, elected lane   -       the load warp may begin another tile
///
/// A part is a box of C: the epilogue waits for each and frees each; or, with `source`, all the
/// boxes of a tile of C, one phase for several copies; or a tile's biases, one row of fp32. These
/// the epilogue waits for once a tile, and holds until it has added their last column.
///
/// The source is wanted last, so a tile's is asked for after its first ring of A and B: that is
/// what `order` says. Its empty side holds the load warp back, which could else go on by two phases
/// before the epilogue-load warp has looked.
///
/// `Parts` say what the epilogue makes of a sum and its source, and whether it stores the largest
/// magnitude of each row of a tile too: gemm_fused does.
///
/// Expected: clean in every interleaving, for each kind of source, every depth of the rings, any
///           number of tiles, of CTAs, of k steps, and for edges that cut a tile.

#pragma once

#include <algorithm>
#include <vector>

#include "scenarios/gemm_epilogue_source.hpp"

namespace warptwin::scenarios {

/// The MMA warp is that of `Without`, gemm or a kernel of clusters: it knows nothing of C.
template <Machine M,
          class Extents,
          class Parts = GemmEpilogueLoadParts,
          class Without = GemmKernel<M, Extents, Parts>>
struct GemmEpilogueLoadKernel : Without {
  using Base = Without;
  using Storage = GemmEpilogueLoadStorage<Extents, Parts, typename Without::Storage>;
  using Function = typename Parts::Function;
  using Input = typename Base::Input;
  using Accum = typename Base::Accum;
  static constexpr auto kRoles = kGemmEpilogueLoadRoles;
  struct WithSource : Base::Problem {
    typename M::TensorMap c;  // box as of d; of biases (1, tile_n)
    Function function;
  };
  struct WithMaxima : WithSource {
    typename M::TensorMap maxima;  // box (1, tile_m) fp32
  };
  using Problem = std::conditional_t<Parts::kRowMaxima, WithMaxima, WithSource>;

  /// `order`: the tiles', or nothing, where the kernel without sources has one order alone.
  static Problem problem(const ParameterSet& p,
                         const Extents& e,
                         std::span<const typename M::TensorMap> maps,
                         std::span<const GlobalAddress> tensors,
                         const auto&... order) {
    return with_source(Base::problem(p, e, maps, tensors, order...), p, maps);
  }
  static Problem with_source(const typename Base::Problem& without,
                             const ParameterSet& p,
                             std::span<const typename M::TensorMap> maps) {
    const WithSource problem{without, maps[3], Parts::function(p)};
    if constexpr (Parts::kRowMaxima) {
      return {problem, maps[4]};
    } else {
      return problem;
    }
  }

  static constexpr void load(M& machine, const Problem& problem, const Storage& smem) {
    load_tiles(machine, problem, smem, problem.tiles(machine), [] {});
  }
  static constexpr void epilogue_load(M& machine, const Problem& problem, const Storage& smem) {
    load_sources(machine, problem, smem, problem.tiles(machine));
  }
  static constexpr void epilogue(M& machine, const Problem& problem, const Storage& smem) {
    store_tiles(machine, problem, smem, problem.tiles(machine));
  }

  /// Calls `begins()` when a tile begins.
  template <class F>
  static constexpr void load_tiles(
      M& machine, const Problem& problem, const Storage& smem, const auto& tiles, F&& begins) {
    auto input = Input{machine, smem.input}.producer();
    auto order = LoadOrderBarrier<M>{machine, smem.order};
    const ClusterShape& cluster = smem.input.cluster;
    const std::uint32_t part = cluster.place_in_group(machine.cta_rank());
    const std::uint32_t first_steps = std::min(smem.input.barriers.stages, problem.k_tiles);
    for (const Tile tile : tiles) {
      begins();
      for (std::uint32_t k = 0; k < problem.k_tiles; ++k) {
        auto stage = input.acquire_stage();  // waits input.empty, arms full
        stage.load(problem.a, {tile.m, k}, stage.payload().a_tile());  // (cta_m, tile_k)
        stage.load(problem.b, {cluster.group_ctas() * tile.n + part, k}, stage.payload().b_tile());
        std::move(stage).release();
        if (k + 1 == first_steps) {
          order.arrive_and_step();  // waits order.empty, arrives on full
        }
      }
    }
    input.drain();  // no commit is on its way to input.empty any more
  }

  static constexpr void load_sources(M& machine,
                                     const Problem& problem,
                                     const Storage& smem,
                                     const auto& tiles) {
    auto source = EpiLoadPipeline<M>{machine, smem.source};
    auto order = LoadOrderBarrier<M>{machine, smem.order};
    const SourceCopies& copies = smem.copies;
    const bool is_row = problem.extents.has(EpilogueSource::kBiases);
    for (const Tile tile : tiles) {
      order.wait_and_step();  // waits order.full, arrives on empty
      const std::uint32_t row = is_row ? 0 : tile.m * smem.out.first.rows;
      for (std::uint32_t copy = 0; copy < copies.of_tile; copy += copies.of_stage) {
        auto stage = source.acquire_producer();  // waits source.empty, arms full
        for (std::uint32_t i = 0; i < copies.of_stage; ++i) {
          const std::uint32_t column = (tile.n * copies.of_tile + copy + i) * copies.columns;
          stage.load(
              problem.c,  // (tile_m, box_columns) of D, or (1, tile_n) fp32
              Coordinates<2>{{static_cast<std::int32_t>(column), static_cast<std::int32_t>(row)}},
              smem.source.tile(stage.index()) + i * copies.bytes);
        }
        std::move(stage).release();
      }
    }
    if (!smem.input.cluster.is_single_cta()) {
      source.drain();  // as every producer of a cluster
    }
  }

  using Maxima = RowMaxima<M, Parts::kRowMaxima>;

  /// Steps of the epilogue. A wrong twin derives from it, and has one step anew.
  struct Steps {
    /// Takes a box into its tile's maxima of rows.
    static constexpr void take(Maxima& maxima, AccumTile<M>& box, std::uint32_t columns) {
      maxima.take(box, columns);
    }
  };

  template <class By = Steps>
  static constexpr void store_tiles(M& machine,
                                    const Problem& problem,
                                    const Storage& smem,
                                    const auto& tiles) {
    auto warp = EpilogueWarp<M, Accum>::create(machine, smem.accum, smem.tmem);  // waits hand-over
    auto source = EpiLoadPipeline<M>{machine, smem.source};
    auto writer = TileWriter<M, typename Parts::D>{machine, smem.out};
    auto maxima = Maxima{machine, smem.maxima};
    auto registers = AccumTile<M>{machine};  // this warp's rows of one box, fp32
    const std::uint32_t columns = smem.out.first.columns;
    const std::uint32_t boxes = problem.extents.tile_n / columns;
    const Function function = problem.function;
    const auto combine = [&](std::uint32_t stage, std::uint32_t box) {
      if (problem.extents.has(EpilogueSource::kBiases)) {
        registers.combine_row(smem.source.tile(stage) + box * columns * 4, columns, function);
      } else {
        registers.combine_tile(smem.source_tile(stage, box), function);
      }
    };
    const auto combine_box = [&] {
      auto stage = source.acquire_consumer();  // waits source.full
      combine(stage.index(), 0);
      machine.fence_proxy_async(ProxySpace::kSharedCta);  // the next copy comes after these reads
      std::move(stage).release();                         // arrives on source.empty
    };
    const auto store = [&](Tile tile, std::uint32_t box) {
      By::take(maxima, registers, columns);
      registers.store(writer.acquire());  // (tile_m, box_columns) of D, written by all warps
      writer.store(problem.d, {tile.m, tile.n * boxes + box});
    };
    for (const Tile tile : tiles) {
      auto accum = warp.acquire_epilogue_linear();  // waits accum.full
      maxima.begin();
      if (problem.extents.has(EpilogueSource::kBoxes)) {
        for (std::uint32_t box = 0; box + 1 < boxes; ++box) {
          registers.load(accum, box * columns, columns);
          combine_box();
          store(tile, box);
        }
        registers.load(accum, (boxes - 1) * columns, columns);
        std::move(accum).release();  // arrives on accum.empty
        combine_box();
      } else {
        auto stage = source.acquire_consumer();  // waits source.full: all of the tile's source
        for (std::uint32_t box = 0; box + 1 < boxes; ++box) {
          registers.load(accum, box * columns, columns);
          combine(stage.index(), box);
          store(tile, box);
        }
        registers.load(accum, (boxes - 1) * columns, columns);
        std::move(accum).release();  // arrives on accum.empty
        combine(stage.index(), boxes - 1);
        machine.fence_proxy_async(ProxySpace::kSharedCta);  // as above, for the reads of all boxes
        std::move(stage).release();                         // arrives on source.empty
      }
      store(tile, boxes - 1);
      maxima.store(problem, {tile.m, tile.n});
    }
    writer.drain();             // the stores are complete
    std::move(warp).release();  // arrives on tmem.done
  }
};

/// What the scenarios of every choice of parts share.
template <class Parts>
struct GemmEpilogueLoadOf : ScenarioWithSource<GemmEpilogueLoadOf<Parts>, GemmOf<Parts>, Parts> {
  using Base = GemmOf<Parts>;
  using Base::kTileK;
  static constexpr std::uint32_t kStages = kStagesBesideSource<Parts>;
  using StaticExtents = GemmEpilogueLoadExtents<GemmExtents<128, 128, kTileK, kStages, 2>,
                                                kSourceStages<Parts>,
                                                Parts::kSource>;
  using DynamicExtents = GemmEpilogueLoadExtents<GemmExtents<>, kDynamic, kDynamic>;
  using Storage = GemmEpilogueLoadStorage<DynamicExtents, Parts>;
  template <Machine M, class Extents>
  using Kernel = GemmEpilogueLoadKernel<M, Extents, Parts>;

  static std::span<const Parameter> parameters() {
    static constexpr Parameter kParameters[] = {
        {"m", "rows of A, C and D", 512, 1, 1 << 20, "tile_m"},
        {"n", "rows of B, columns of C and D", 512, 1, 1 << 20, "tile_n"},
        {"k", "columns of A and B", 16 * kTileK, 1, 1 << 20, "tile_k"},
        kSourceParameter<Parts>,
        Parts::kFactor,
        {"tile_m", "rows of a tile of D", 128, 64, 128},
        {"tile_n", "columns of a tile of D", 128, 8, 256},
        {"tile_k", "columns of A and B in one stage", kTileK, kTileK / 4, kTileK},
        {"stages", "stages of the input ring", kStages, 1, 64},
        {"accum_stages", "accumulators in tensor memory", 2, 1, 64},
        kSourceStagesParameter<Parts>,
        {"ctas", "CTAs that share the tiles; 0: one for each", 0, 0, 1 << 16},
    };
    return kParameters;
  }
  static DynamicExtents extents(const ParameterSet& p) {
    return {Base::extents(p), p.u32("source_stages"), p.u32("source")};
  }
};

struct GemmEpilogueLoad : GemmEpilogueLoadOf<GemmEpilogueLoadParts> {
  static constexpr ScenarioInfo kInfo{"gemm_epilogue_load",
                                      ScenarioKind::kClean,
                                      "persistent GEMM whose epilogue adds a matrix loaded by TMA"};
};

}  // namespace warptwin::scenarios
