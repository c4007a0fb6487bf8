/// Scenario: D = A * B^T with K cut in splits: several CTAs compute parts of one tile, and add them
/// up in the order of the splits, through a workspace in global memory.
///
/// Barrier          Arrivals per phase                Bytes   Completion means
/// input.full[s]    1   load, elected lane            A + B   stage s may be read
/// input.empty[s]   1   mma, tcgen05.commit           -       stage s may be overwritten
/// accum.full[a]    1   mma, tcgen05.commit           -       accumulator a is complete
/// accum.empty[a]   128 epilogue, every lane          -       accumulator a may be overwritten
/// tmem.done[0]     128 epilogue, every lane          -       tensor memory may be freed
/// source.full[c]   1   epilogue_load, elected lane   box     box c of the sum so far may be read
/// source.empty[c]  128 epilogue, every lane          -       box c of it may be overwritten
///
/// Split 0 stores its accumulator, each middle split adds its own to what is there, the last one
/// adds and writes D: the sum is the same in every run. That a split's sum lies in the workspace is
/// said by a word: of the split's own, or (lock=1) by one of the tile, a lock that each split waits
/// for and hands on to the next.
///
/// Forward progress: a split waits for the one before it, which is another CTA's. CTAs begin in the
/// order of their index, and a CTA takes its work in order: all tiles' split 0, then all tiles'
/// split 1. So, of the work that CTAs on the machine have, the first waits for nobody: with one CTA
/// for each piece of work (ctas=0) any number of CTAs on the machine will do, down to
/// `--resident-ctas 1`. A persistent launch (ctas=C) needs all C at once, as its CTA 0 may wait for
/// the first work of CTA C - 1.
///
/// Expected: clean in every interleaving, for every number of splits, of tiles and of CTAs, and
///           every depth of the rings; where fewer CTAs are on the machine than it needs, DEADLOCK.

#pragma once

#include <algorithm>

#include "common/kernel/parameter_table.hpp"

#include "scenarios/gemm_epilogue_load.hpp"
#include "scenarios/gemm_split_k_work.hpp"

namespace warptwin::scenarios {

template <Machine M,
          class Extents,
          class SplitProblem = GemmSplitKProblem<M, Extents>,
          class Parts = GemmParts>
struct GemmSplitKKernel {
  using Storage = GemmSplitKStorage<Extents, Parts>;
  using Input = PipelineOf<M, typename Storage::Base::Input>;
  using Accum = PipelineOf<M, typename Storage::Base::Accum>;
  using Problem = SplitProblem;
  using Work = SplitWork;
  static constexpr auto kRoles = kGemmEpilogueLoadRoles;

  static Problem problem(const ParameterSet& p,
                         const Extents& e,
                         std::span<const typename M::TensorMap> maps,
                         std::span<const GlobalAddress> tensors) {
    Problem problem{};
    problem.set(p, e, maps, tensors);
    return problem;
  }

  static constexpr void load(M& machine, const Problem& problem, const Storage& smem) {
    auto input = Input{machine, smem.input}.producer();
    const ClusterShape& cluster = smem.input.cluster;
    const std::uint32_t part = cluster.place_in_group(machine.cta_rank());
    for (const auto at : problem.tiles(machine)) {
      const Work work = problem.work(at);
      for (std::uint32_t k = work.begin_k; k < work.end_k; ++k) {
        auto stage = input.acquire_stage();  // waits input.empty, arms full
        stage.load(problem.a, {work.tile.m, k}, stage.payload().a_tile());  // (cta_m, tile_k)
        const std::uint32_t rows_of_b = cluster.group_ctas() * work.tile.n + part;
        stage.load(problem.b, {rows_of_b, k}, stage.payload().b_tile());  // (cta_n, tile_k)
        std::move(stage).release();
      }
    }
    input.drain();  // no commit is on its way to input.empty any more
  }

  static constexpr void mma(M& machine, const Problem& problem, const Storage& smem) {
    auto warp = MmaWarp<M, Accum>::create(machine, smem.accum, smem.tmem);  // allocates, hands over
    auto input = Input{machine, smem.input}.consumer();
    for (const auto at : problem.tiles(machine)) {
      if (!warp.is_leader()) {
        break;  // the leader's MMAs are both CTAs'
      }
      const Work work = problem.work(at);
      auto accum = warp.acquire_mma_linear();  // waits accum.empty
      for (std::uint32_t k = work.begin_k; k < work.end_k; ++k) {
        auto stage = input.acquire_stage();  // waits input.full
        accum.multiply(stage.payload(), k == work.begin_k ? Accumulate::kNo : Accumulate::kYes);
        std::move(stage).release();  // commits to input.empty
      }
      std::move(accum).release();  // commits to accum.full
    }
    std::move(warp).release();  // waits tmem.done, frees
  }

  static constexpr void epilogue_load(M& machine, const Problem& problem, const Storage& smem) {
    auto source = EpiLoadPipeline<M>{machine, smem.source};
    for (const auto at : problem.tiles(machine)) {
      const Work work = problem.work(at);
      if (!work.first) {
        machine.elect_one([&] { machine.wait_global_u32(work.before.at, work.before.value); });
        machine.sync_warp();  // the other lanes have not waited
        load_sum(machine, problem, smem, source, work.tile);
      }
    }
    if (!smem.input.cluster.is_single_cta()) {
      source.drain();  // as every producer of a cluster
    }
  }

  /// Brings a tile's sum so far to the epilogue, box by box.
  ///
  /// Participants: the epilogue-load warp. Blocks: while the ring is full.
  static constexpr void load_sum(M& machine,
                                 const Problem& problem,
                                 const Storage& smem,
                                 EpiLoadPipeline<M>& source,
                                 Tile tile) {
    const SharedTile<f32>& box_shape = smem.partial.first;
    const std::uint32_t boxes = problem.extents.tile_n / box_shape.columns;
    machine.fence_proxy_async(ProxySpace::kGlobal);  // the word was read, the sum will be copied
    for (std::uint32_t box = 0; box < boxes; ++box) {
      const Coordinates<2> from{
          {static_cast<std::int32_t>((tile.n * boxes + box) * box_shape.columns),
           static_cast<std::int32_t>(tile.m * box_shape.rows)}};
      auto stage = source.acquire_producer();  // waits source.empty, arms full
      stage.load(problem.workspace, from, smem.source.tile(stage.index()));  // (tile_m, box) f32
      std::move(stage).release();
    }
  }

  static constexpr void epilogue(M& machine, const Problem& problem, const Storage& smem) {
    epilogue_by<Steps>(machine, problem, smem);
  }

  /// Steps of the epilogue. A wrong twin derives from it, and has one step anew.
  struct Steps {
    /// A split begins.
    static constexpr void begin(M& /*machine*/,
                                const Storage& /*smem*/,
                                EpiLoadPipeline<M>& /*source*/) {}
    /// Whether a sum that the split adds to lies in the workspace.
    static constexpr bool adds(const Work& work) { return !work.first; }
    /// Says that the sum up to this split lies in the workspace, once it does.
    ///
    /// Participants: every epilogue warp. Blocks: the storing warp, for its stores.
    static constexpr void hand_over(M& machine,
                                    const Storage& smem,
                                    TileWriter<M, f32>& partial,
                                    const Work& work) {
      partial.drain();
      if (machine.warp_index() == smem.partial.store_warp) {
        machine.elect_one(
            [&] { machine.st_release_global_u32(work.summed.at, work.summed.value); });
      }
    }
  };

  /// The role, by the steps of `By`: `Steps`, or what derives from it.
  template <class By>
  static constexpr void epilogue_by(M& machine, const Problem& problem, const Storage& smem) {
    auto warp = EpilogueWarp<M, Accum>::create(machine, smem.accum, smem.tmem);  // waits hand-over
    auto source = EpiLoadPipeline<M>{machine, smem.source};
    auto out = TileWriter<M, typename Parts::D>{machine, smem.out};
    auto partial = TileWriter<M, f32>{machine, smem.partial};
    auto registers = AccumTile<M>{machine};  // this warp's rows of one box, fp32
    const std::uint32_t columns = smem.out.first.columns;
    const std::uint32_t boxes = problem.extents.tile_n / columns;
    const auto add_and_store = [&](const Work& work, std::uint32_t box) {
      registers.apply(typename Parts::Function{}, columns);
      const TileIndex to{work.tile.m, work.tile.n * boxes + box};
      if (By::adds(work)) {
        auto stage = source.acquire_consumer();  // waits source.full
        registers.add_scaled(smem.source_tile(stage.index()), 1.0F);
        machine.fence_proxy_async(ProxySpace::kSharedCta);  // the next copy comes after these reads
        std::move(stage).release();                         // arrives on source.empty
      }
      if (work.last) {
        registers.store(out.acquire());  // (tile_m, box) of D, written by all warps
        out.store(problem.d, to);
      } else {
        registers.store(partial.acquire());  // (tile_m, box) f32
        partial.store(problem.workspace, to);
      }
    };
    for (const auto at : problem.tiles(machine)) {
      const Work work = problem.work(at);
      By::begin(machine, smem, source);
      auto accum = warp.acquire_epilogue_linear();  // waits accum.full
      for (std::uint32_t box = 0; box + 1 < boxes; ++box) {
        registers.load(accum, box * columns, columns);
        add_and_store(work, box);
      }
      registers.load(accum, (boxes - 1) * columns, columns);
      std::move(accum).release();  // arrives on accum.empty
      add_and_store(work, boxes - 1);
      if (!work.last) {
        By::hand_over(machine, smem, partial, work);
      }
    }
    out.drain();                // the stores are complete
    std::move(warp).release();  // arrives on tmem.done
  }
};

/// What the scenarios of every choice of parts share.
template <class Parts>
struct GemmSplitKOf : GemmOf<Parts> {
  using Base = GemmOf<Parts>;
  using Base::kTileK;
  using StaticExtents = GemmEpilogueLoadExtents<typename Base::StaticExtents, 2>;
  template <Machine M, class Extents>
  using Kernel = GemmSplitKKernel<M, Extents, GemmSplitKProblem<M, Extents>, Parts>;

  static std::span<const Parameter> parameters() {
    static const auto kParameters = extended(
        shapes(),
        {{"splits", "parts of K; no more are made than K has tiles", 3, 1, 64},
         {"ctas", "CTAs that share the splits of all tiles; 0: one for each", 0, 0, 1 << 16},
         {"lock", "1: a tile's splits hand on one word; 0: each sets its own", 0, 0, 1}});
    return kParameters;
  }
  /// The parameters that say nothing of who shares the work.
  static std::span<const Parameter> shapes() {
    static constexpr Parameter kParameters[] = {
        {"m", "rows of A and D", 256, 1, 1 << 20},
        {"n", "rows of B, columns of D", 128, 1, 1 << 20},
        {"k", "columns of A and B", 16 * kTileK, 1, 1 << 20, "tile_k"},
        {"tile_m", "rows of a tile of D", 128, 64, 128},
        {"tile_n", "columns of a tile of D", 128, 8, 256},
        {"tile_k", "columns of A and B in one stage", kTileK, kTileK / 4, kTileK},
        {"stages", "stages of the input ring", 4, 1, 64},
        {"accum_stages", "accumulators in tensor memory", 2, 1, 64},
        {"source_stages", "boxes of the sum so far in shared memory", 2, 1, 64},
    };
    return kParameters;
  }
  static GemmEpilogueLoadExtents<> extents(const ParameterSet& p) {
    return {Base::extents(p), p.u32("source_stages")};
  }
  static Workload workload(const ParameterSet& p) {
    Workload workload = product(p);
    add_splits(workload, p, extents(p));
    return workload;
  }
  /// The workload of the product alone.
  static Workload product(const ParameterSet& p) { return Base::workload(p); }
  /// Makes the workload of a product that of its splits.
  template <class Extents>
  static void add_splits(Workload& workload, const ParameterSet& p, const Extents& e) {
    const TileGrid grid = split_grid(p, e);
    const std::uint32_t splits = std::min(p.u32("splits"), ceil_div(p.u32("k"), e.tile_k));
    const std::uint32_t words = p.u32("lock") != 0 ? 1 : splits;
    add_workspace(workload, p, e, words);
    workload.clusters =
        TileGrid{grid.m, grid.n * splits}.in_clusters(e.cluster()).ctas(p.u32("ctas"));
  }
  /// Makes the workload of a product that of sums in a workspace, with `words` for each tile.
  template <class Extents>
  static void add_workspace(Workload& workload,
                            const ParameterSet& p,
                            const Extents& e,
                            std::uint32_t words) {
    workload.registers_per_thread = 72;
    const ClusterShape cluster = e.cluster();
    check_rows_fill_lanes(e.tile_m, cluster.group);
    check_stages_fit<GemmSplitKStorage<Extents, Parts>>(e);
    const TileGrid grid = split_grid(p, e);
    const std::uint32_t rows = e.tile_m / cluster.group_ctas();
    const std::uint32_t box = box_columns<f32>(e.tile_n);
    constexpr auto kWord = ElementType::kF32;
    workload.tensors.push_back(
        matrix("workspace", TensorUse::kScratch, grid.m * rows, grid.n * e.tile_n, kWord));
    workload.tensors.push_back(
        matrix("flags", TensorUse::kScratch, 1, words * grid.count(), kWord));
    workload.maps[2] = tile_map<typename Parts::D>(2, rows, box);
    workload.maps.push_back({3, rows, box, swizzle_of(box * 4)});
  }
};

struct GemmSplitK : GemmSplitKOf<GemmParts> {
  static constexpr ScenarioInfo kInfo{
      "gemm_split_k", ScenarioKind::kClean, "persistent GEMM whose tiles are sums over CTAs"};
};

}  // namespace warptwin::scenarios
