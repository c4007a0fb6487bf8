/// Scenario: D_g = A_g * B_g^T of block-scaled operands for groups of different M, some of them
/// empty (mixture of experts): the tiles of gemm_grouped, the operands of gemm_block_scaled.
///
/// Barrier          Arrivals per phase                 Bytes      Completion means
/// input.full[s]    1   load, elected lane             A, B, SFA  stage s may be read
/// input.empty[s]   1   mma, tcgen05.commit            -          stage s may be overwritten
/// sfb.full[s]      1   scale_load, elected lane       SFB        SFB of stage s may be read
/// sfb.stored[s]    128 scale_to_tmem, every lane      -          it is in tensor memory
/// sfb.empty[s]     5   mma, tcgen05.commit            -          it may be overwritten, in both
///                      (1 of them; 4 of scale_to_tmem, an elected lane of each warp)
/// accum.full[a]    1   mma, tcgen05.commit            -          accumulator a is complete
/// accum.empty[a]   128 epilogue, every lane           -          a may be overwritten
/// tmem.done[0]     256 epilogue, every lane (128)     -          tensor memory may be freed
///                      and scale_to_tmem (128)
/// work.full[w]     1   scheduler, elected lane        -          slot w names a tile, or none
/// work.empty[w]    11  load, elected lane of a warp   -          slot w may be overwritten
///
/// With tile_n < 64 the factors of B come by warps of their own: a tile of 8 or 16 rows begins
/// within the 32 lines of a block of factors, where tcgen05.cp cannot. TMA brings 32 lines from its
/// first on; four warps, 7 to 10, store them, each to its quarter of the lanes. Their place in
/// tensor memory is free when its MMAs are complete, not when they are issued; that in shared
/// memory when they are stored, which a commit does not tell.
///
/// With tile_n >= 64 there are no such warps and no `sfb`: SFB comes with the operands, which
/// input.full counts, and seven warps are left. Six of them read a slot of work, 4 epilogue, load
/// and mma (above 5 more), and the 128 lanes of the epilogue are in tmem.done.
///
/// Scheduling, pairs, clusters and empty groups: see gemm_grouped. Factors in tensor memory, and
/// whose a pair needs: gemm_block_scaled. A pair's tiles have 64 columns and more.
///
/// Expected: clean in every interleaving, for every format, all sizes of groups, whichever are
///           empty, any number of CTAs, of k steps, and every depth of the rings.

#pragma once

#include <algorithm>

#include "scenarios/gemm_grouped.hpp"
#include "scenarios/gemm_grouped_1d1d_storage.hpp"

namespace warptwin::scenarios {

template <Machine M, Role kWho>
using GemmGrouped1d1dTiles = GroupTilesOf<M, kWho, GemmGrouped1d1dWork>;

/// `TilesOf` tell a role its tiles, by what is in `StorageOf`.
template <Machine M,
          class Extents,
          template <Machine, Role> class TilesOf = GemmGrouped1d1dTiles,
          class StorageOf = GemmGrouped1d1dStorage<Extents>>
struct GemmGrouped1d1dKernel {
  using Storage = StorageOf;
  using Input = PipelineOf<M, typename Storage::Input>;
  using Sfb = PipelineOf<M, typename Storage::Sfb>;
  using Accum = PipelineOf<M, typename Storage::Accum>;
  using Tmem = typename Storage::Tmem;
  using Problem = GemmGrouped1d1dProblem<M, Extents>;
  static constexpr auto kRoles = gemm_grouped_1d1d_roles(true);
  static constexpr auto roles(const Extents& e) { return gemm_grouped_1d1d_roles(e.stores_sfb()); }

  static Problem problem(const ParameterSet& p,
                         const Extents& e,
                         std::span<const typename M::TensorMap> maps,
                         std::span<const GlobalAddress>) {
    Problem problem{};
    problem.set(p, e, maps);
    for (std::uint32_t group = 0; group < kGroups; ++group) {
      problem.sfa[group] = maps[5 * group + 2];
      problem.sfb[group] = maps[5 * group + 3];
    }
    return problem;
  }

  /// The tiles of this warp's CTA, for its role.
  template <Role kWho>
  static constexpr TilesOf<M, kWho> tiles(M& machine, const Problem& problem, const Storage& smem) {
    return {machine, smem, problem};
  }

  static constexpr void scheduler(M& machine, const Problem& problem, const Storage& smem) {
    publish_tiles(machine, problem, smem.work);
  }

  static constexpr void load(M& machine, const Problem& problem, const Storage& smem) {
    auto input = Input{machine, smem.input}.producer();
    const ScaledTileShape shape = problem.extents.shape();
    const std::uint32_t b_blocks = problem.extents.stores_sfb() ? 0 : shape.b_blocks();
    const ClusterShape& cluster = smem.input.cluster;
    const std::uint32_t ctas = ctas_in(shape.group);
    const std::uint32_t part = cluster.place_in_group(machine.cta_rank());
    for (auto at = tiles<Role::kLoad>(machine, problem, smem); at.exists(); at.next()) {
      const std::uint32_t group = at->group;
      const Tile tile = at->of_rank(cluster, machine.cta_rank());
      for (std::uint32_t k = 0; k < problem.k_tiles; ++k) {
        auto stage = input.acquire_stage();  // waits input.empty; the leader arms full
        const auto to = stage.payload();
        stage.load(problem.a[group], {tile.m, k}, to.a_tile());                // (cta_m, tile_k)
        stage.load(problem.b[group], {tile.n * ctas + part, k}, to.b_tile());  // (cta_n, tile_k)
        stage.load(problem.sfa[group], {tile.m * problem.k_tiles + k, 0}, to.sfa_tile());
        for (std::uint32_t row = 0; row < b_blocks; ++row) {  // of both CTAs
          stage.load(problem.sfb[group],
                     {(shape.first_block(tile.n) + row) * problem.k_tiles + k, 0},
                     block_row(to.sfb_tile(), row, shape.k_blocks()));
        }
        std::move(stage).release();
      }
    }
    input.drain();  // no commit is on its way to input.empty any more
  }

  static constexpr void scale_load(M& machine, const Problem& problem, const Storage& smem) {
    auto sfb = Sfb{machine, smem.sfb};
    const ScaledTileShape shape = problem.extents.shape();
    const std::uint32_t k_blocks = shape.k_blocks();
    for (auto at = tiles<Role::kScaleLoad>(machine, problem, smem); at.exists(); at.next()) {
      const std::uint32_t group = at->group;
      const Tile tile = at->of_rank(smem.input.cluster, machine.cta_rank());
      const std::uint32_t first = shape.first_block(tile.n) * problem.k_tiles * k_blocks;
      const std::uint32_t line = tile.n * shape.tile_n % kScaleBlockLines;  // of the tile's row 0
      for (std::uint32_t k = 0; k < problem.k_tiles; ++k) {
        auto stage = sfb.acquire_producer();  // waits sfb.empty, arms full
        for (std::uint32_t i = 0; i < k_blocks; ++i) {
          const std::uint32_t block = first + k * k_blocks + i;
          const auto row = static_cast<std::int32_t>(block * kScaleBlockLines + line);
          stage.load(problem.sfb[group], Coordinates<2>{0, row}, smem.sfb.block(stage.index(), i));
        }
        std::move(stage).release();
      }
    }
    sfb.drain();  // no commit is on its way to sfb.empty any more
  }

  static constexpr void scale_to_tmem(M& machine, const Problem& problem, const Storage& smem) {
    auto warp = EpilogueWarp<M, Accum, Tmem>::create(machine, smem.accum, smem.tmem);
    auto sfb = Sfb{machine, smem.sfb};
    const ScaledTileShape shape = problem.extents.shape();
    const ScaleSlots scales = slots(problem, smem, warp.tmem());
    for (auto at = tiles<Role::kScaleToTmem>(machine, problem, smem); at.exists(); at.next()) {
      const Tile tile = at->of_rank(smem.accum.cluster, machine.cta_rank());
      const std::uint32_t word = shape.first_column(tile.n);
      for (std::uint32_t k = 0; k < problem.k_tiles; ++k) {
        auto stage = sfb.acquire_writer();  // waits sfb.full
        const TmemAddress to = scales[stage.index()].b;
        for (std::uint32_t i = 0; i < shape.k_blocks(); ++i) {
          stage.store_block(i, word, to.at_column(i * kScaleBlockColumns));
        }
        std::move(stage).release();  // waits for the stores, arrives on sfb.stored
      }
    }
    std::move(warp).release();  // arrives on tmem.done
  }

  /// The slots of scale factors, behind the accumulators.
  static constexpr ScaleSlots slots(const Problem& problem,
                                    const Storage& smem,
                                    const TmemAllocation& tmem) {
    return {tmem.base.at_column(smem.accum.config.accum_columns()),
            problem.extents.shape(),
            problem.extents.stages};
  }

  static constexpr void mma(M& machine, const Problem& problem, const Storage& smem) {
    auto warp = MmaWarp<M, Accum, Tmem>::create(machine, smem.accum, smem.tmem);
    auto input = Input{machine, smem.input}.consumer();
    auto sfb = Sfb{machine, smem.sfb};
    const ScaledTileShape shape = problem.extents.shape();
    const ScaleSlots scales = slots(problem, smem, warp.tmem());
    for (auto at = tiles<Role::kMma>(machine, problem, smem); at.exists(); at.next()) {
      if (!warp.is_leader()) {
        continue;  // the leader's MMAs are both CTAs'
      }
      const Tile tile = at->of_rank(smem.input.cluster, machine.cta_rank());
      auto accum = warp.acquire_mma_linear();  // waits accum.empty
      const TmemAddress d = accum.tmem().address();
      for (std::uint32_t k = 0; k < problem.k_tiles; ++k) {
        const auto accumulate = k == 0 ? Accumulate::kNo : Accumulate::kYes;
        if (problem.extents.stores_sfb()) {
          auto factors = sfb.acquire_consumer();  // waits sfb.stored
          auto stage = input.acquire_stage();     // waits input.full
          const ScaleSlot slot = scales[stage.index()];
          copy_scales_of_a(machine, shape, stage.payload(), slot);
          multiply_scaled(machine, d, shape, stage.payload(), slot, accumulate);
          std::move(stage).release();    // commits to input.empty
          std::move(factors).release();  // commits to sfb.empty
        } else {
          auto stage = input.acquire_stage();  // waits input.full
          ScaleSlot slot = scales[stage.index()];
          copy_scales(machine, shape, stage.payload(), slot);  // in both CTAs
          slot.b = slot.b.at_column(shape.first_column(tile.n));
          multiply_scaled(machine, d, shape, stage.payload(), slot, accumulate);
          std::move(stage).release();  // commits to input.empty
        }
      }
      std::move(accum).release();  // commits to accum.full
    }
    std::move(warp).release();  // waits tmem.done, frees
  }

  static constexpr void epilogue(M& machine, const Problem& problem, const Storage& smem) {
    auto warp = EpilogueWarp<M, Accum, Tmem>::create(machine, smem.accum, smem.tmem);
    auto writer = TileWriter<M, bf16>{machine, smem.out};
    auto registers = AccumTile<M>{machine};  // this warp's rows of one box, fp32
    const std::uint32_t columns = smem.out.first.columns;
    const std::uint32_t boxes = problem.extents.tile_n / columns;
    for (auto at = tiles<Role::kEpilogue>(machine, problem, smem); at.exists(); at.next()) {
      const std::uint32_t group = at->group;
      const Tile tile = at->of_rank(smem.accum.cluster, machine.cta_rank());
      auto accum = warp.acquire_epilogue_linear();  // waits accum.full
      for (std::uint32_t box = 0; box + 1 < boxes; ++box) {
        registers.load(accum, box * columns, columns);
        registers.store(writer.acquire());  // (cta_m, box_columns) bf16, written by all warps
        writer.store(problem.d[group], {tile.m, tile.n * boxes + box});
      }
      registers.load(accum, (boxes - 1) * columns, columns);
      std::move(accum).release();  // arrives on the leader's accum.empty
      registers.store(writer.acquire());
      writer.store(problem.d[group], {tile.m, tile.n * boxes + boxes - 1});
    }
    writer.drain();             // the stores are complete
    std::move(warp).release();  // arrives on tmem.done
  }
};

struct GemmGrouped1d1d {
  static constexpr ScenarioInfo kInfo{"gemm_grouped_1d1d",
                                      ScenarioKind::kClean,
                                      "block-scaled GEMMs of groups, narrow ones with factors of B "
                                      "by tcgen05.st"};
  using StaticExtents =
      GemmGrouped1d1dExtents<GemmBlockScaledExtents<0, 128, 32, 128, 4, 2>, 1, 1, 1>;
  template <Machine M, class Extents>
  using Kernel = GemmGrouped1d1dKernel<M, Extents>;

  static std::span<const Parameter> parameters() {
    static const auto kParameters = extended(
        shapes(),
        {{"ctas", "CTAs, or pairs, that share the tiles; 0: one for each", 3, 0, 1 << 16}});
    return kParameters;
  }
  /// The parameters that say nothing of who shares the tiles.
  static std::span<const Parameter> shapes() {
    static constexpr Parameter kParameters[] = {
        {"m0", "rows of group 0", 200, 0, 1 << 20},
        {"m1", "rows of group 1", 1, 0, 1 << 20},
        {"m2", "rows of group 2", 300, 0, 1 << 20},
        {"m3", "rows of group 3", 65, 0, 1 << 20},
        {"work", "which groups have their rows, one bit each", 15, 0, 15, nullptr, true},
        {"n", "rows of each B, columns of each D", 64, 1, 1 << 20},
        {"k", "columns of A and B", 512, 32, 1 << 20, "tile_k"},
        {"format", "0: MXFP8, 1: MXFP4, 2: NVFP4", 0, 0, 2},
        {"tile_m", "rows of an MMA's tile of D: 128 a CTA", 128, 128, 256},
        {"tile_n", "columns of an MMA's tile of D", 32, 8, 256},
        {"tile_k", "columns of A and B in one stage", 128, 64, 256},
        {"stages", "stages of the input ring, and of the factors'", 4, 1, 64},
        {"accum_stages", "accumulators in tensor memory", 2, 1, 64},
        {"cta_group", "CTAs that share an MMA", 1, 1, 2},
        {"cluster_m", "CTAs of a cluster along M; 0: those of an MMA", 0, 0, 16},
        {"cluster_n", "CTAs of a cluster along N", 1, 1, 8},
    };
    return kParameters;
  }
  static GemmGrouped1d1dExtents<> extents(const ParameterSet& p) {
    return {{GemmBlockScaled::tiles(p), p.u32("cta_group"), cluster_m(p), p.u32("cluster_n")}};
  }
  static Workload workload(const ParameterSet& p) { return workload_of(p, p.u32("ctas")); }
  /// `clusters` of them; 0: one for each tile.
  static Workload workload_of(const ParameterSet& p, std::uint32_t clusters) {
    static constexpr const char* kNames[kGroups][5] = {{"a0", "b0", "sfa0", "sfb0", "d0"},
                                                       {"a1", "b1", "sfa1", "sfb1", "d1"},
                                                       {"a2", "b2", "sfa2", "sfb2", "d2"},
                                                       {"a3", "b3", "sfa3", "sfb3", "d3"}};
    const GemmGrouped1d1dExtents<> e = extents(p);
    const auto [n, k] = std::array{p.u32("n"), p.u32("k")};
    check_scaled_groups(e, k);
    Workload workload;
    std::uint32_t tiles = 0;
    for (std::uint32_t group = 0; group < kGroups; ++group) {
      const std::uint32_t m = rows_of_group(p, group);
      add_scaled_group(workload, kNames[group], m, n, k, e);
      workload.flops += std::uint64_t{2} * m * n * k;
      tiles += TileGrid::covering(m, n, e.cta_m(), e.tile_n).in_clusters(e.cluster()).count();
    }
    workload.clusters = clusters == 0 ? std::max(tiles, 1U) : clusters;
    workload.cluster_size = e.cluster().ctas();
    workload.registers_per_thread = 48;
    return workload;
  }
  static void reference(const ParameterSet& p, std::span<HostTensor> tensors) {
    const std::uint32_t k_tiles = ceil_div(p.u32("k"), p.u32("tile_k"));
    for (; !tensors.empty(); tensors = tensors.subspan(5)) {
      if (tensors[4].spec.use == TensorUse::kOutput) {
        multiply_scaled_reference(extents(p).shape(), k_tiles, tensors);
      }
    }
  }
};

}  // namespace warptwin::scenarios
