/// Scenario: D = A * B^T as in gemm, by pairs of CTAs: one MMA of cta_group::2 computes both CTAs'
/// tiles. A CTA holds its own rows of A and of D, and half of the pair's rows of B.
///
/// Barrier          Arrivals per phase          Bytes per phase   Completion means
/// input.full[s]    1   load, elected lane      both A + both B   stage s may be read, in both CTAs
/// input.empty[s]   1   mma, tcgen05.commit     -                 stage s may be overwritten
/// accum.full[a]    1   mma, tcgen05.commit     -                 accumulator a is complete
/// accum.empty[a]   256 epilogue, every lane    -                 accumulator a may be overwritten
/// tmem.done[0]     256 epilogue, every lane    -                 tensor memory may be freed
/// tmem.peer[0]     1   mma, elected lane       -                 the peer has allocated
///
/// The even CTA of a pair leads: its input.full counts the copies of both, on its accum.empty both
/// epilogues arrive, and its MMA warp alone multiplies and commits, to accum.full of the pair and
/// to input.empty of all CTAs whose copies the pair has read. In larger clusters these are its row
/// and its two columns, and cluster_m / 2 + cluster_n - 1 commits free a stage.
///
/// Expected: clean in every interleaving, for every stages >= 1 and accum_stages >= 1, for any
///           cluster of pairs, any number of tiles and of clusters, and for edges that cut a tile.

#pragma once

#include "common/sync/cluster_shape.hpp"

#include "scenarios/gemm.hpp"

namespace warptwin::scenarios {

/// `tile_m` by `tile_n` is the shape of a pair's MMA; a CTA of it computes half of the rows.
template <class Tiles = GemmExtents<>,
          std::uint32_t kClusterM = kDynamic,
          std::uint32_t kClusterN = kDynamic>
struct Gemm2smExtents : Tiles {
  [[no_unique_address]] Extent<kClusterM> cluster_m;
  [[no_unique_address]] Extent<kClusterN> cluster_n;

  constexpr std::uint32_t cta_m() const { return this->tile_m / 2; }
  constexpr std::uint32_t cta_n() const { return this->tile_n / 2; }
  constexpr ClusterShape cluster() const { return {cluster_m, cluster_n, CtaGroup::kTwo}; }
  /// With 64 rows a CTA, lanes 0 to 63 hold the first half of the columns, the others the second.
  constexpr std::uint32_t column_parts() const { return cta_m() == kTmemLanes ? 1 : 2; }
  constexpr std::uint32_t accum_columns() const { return this->tile_n / column_parts(); }
};

/// A CTA's shared memory; the names are those of the reports.
template <class Extents>
struct Gemm2smStorage {
  using Input = InputPipelineStorage<StandardTilePayload<bf16, bf16>,
                                     From<Role::kLoad, TmaBytes>,
                                     To<Role::kMma, UmmaCommit>>;
  using Accum = OutputPipelineStorage<From<Role::kMma, UmmaCommit>, To<Role::kEpilogue, EveryLane>>;

  constexpr Gemm2smStorage(auto& layout, const Extents& e)
      : input{layout, "input", kGemmRoles, e.cluster(), {e.cta_m(), e.cta_n(), e.tile_k}, e.stages},
        out{layout,
            "out",
            kGemmRoles,
            e.cta_m(),
            box_columns<bf16>(e.accum_columns()),
            e.column_parts()},
        accum{layout, "accum", kGemmRoles, e.cluster(), {e.accum_stages, e.accum_columns()}},
        tmem{layout, "tmem", kGemmRoles, e.cluster()} {}
  constexpr void init(Machine auto& machine) const {
    input.init(machine);
    accum.init(machine);
    tmem.init(machine);
  }

  Input input;
  OutputTileStorage<bf16> out;
  Accum accum;
  TmemDeallocStorage<> tmem;
};

template <Machine M, class Extents>
struct Gemm2smKernel {
  using Storage = Gemm2smStorage<Extents>;
  using Input = PipelineOf<M, typename Storage::Input>;
  using Accum = PipelineOf<M, typename Storage::Accum>;
  static constexpr auto kRoles = kGemmRoles;
  struct Problem {
    typename M::TensorMap a, b, d;  // boxes: slices of A and B, (cta_m, box)
    [[no_unique_address]] Extents extents;
    TileWalk tile_walk;
    std::uint32_t k_tiles;
    constexpr StaticTileScheduler tiles(const M& machine) const { return {tile_walk, machine}; }
  };

  static Problem problem(const ParameterSet& p,
                         const Extents& e,
                         std::span<const typename M::TensorMap> maps,
                         std::span<const GlobalAddress>) {
    return in_order({}, p, e, maps);
  }
  static Problem in_order(const TileOrder& order,
                          const ParameterSet& p,
                          const Extents& e,
                          std::span<const typename M::TensorMap> maps) {
    const auto grid = TileGrid::covering(p.u32("m"), p.u32("n"), e.cta_m(), e.tile_n);
    const TileWalk walk{grid, e.cluster(), order};
    return {maps[0], maps[1], maps[2], e, walk, ceil_div(p.u32("k"), e.tile_k)};
  }

  static constexpr void load(M& machine, const Problem& problem, const Storage& smem) {
    auto input = Input{machine, smem.input}.producer();
    const std::uint32_t half = smem.input.cluster.place_in_group(machine.cta_rank());
    for (const Tile tile : problem.tiles(machine)) {
      for (std::uint32_t k = 0; k < problem.k_tiles; ++k) {
        auto stage = input.acquire_stage();  // waits input.empty; the leader arms full, for both
        stage.load(problem.a, {tile.m, k}, stage.payload().a_tile());  // (cta_m, tile_k) bf16
        stage.load(
            problem.b, {2 * tile.n + half, k}, stage.payload().b_tile());  // (tile_n / 2, ..)
        std::move(stage).release();
      }
    }
    input.drain();  // no commit is on its way to input.empty any more
  }

  static constexpr void mma(M& machine, const Problem& problem, const Storage& smem) {
    auto warp = MmaWarp<M, Accum>::create(machine, smem.accum, smem.tmem);  // in both, together
    if (warp.is_leader()) {
      auto input = Input{machine, smem.input}.consumer();
      for ([[maybe_unused]] const Tile tile : problem.tiles(machine)) {
        auto accum = warp.acquire_mma_linear();  // waits accum.empty, of both epilogues
        for (std::uint32_t k = 0; k < problem.k_tiles; ++k) {
          auto stage = input.acquire_stage();  // waits input.full
          accum.multiply(stage.payload(), k == 0 ? Accumulate::kNo : Accumulate::kYes);
          std::move(stage).release();  // commits to input.empty of all whose copies it has read
        }
        std::move(accum).release();  // commits to accum.full of the pair
      }
    }
    std::move(warp).release();  // waits tmem.done, frees
  }

  static constexpr void epilogue(M& machine, const Problem& problem, const Storage& smem) {
    auto warp = EpilogueWarp<M, Accum>::create(machine, smem.accum, smem.tmem);  // waits hand-over
    auto writer = TileWriter<M, bf16>{machine, smem.out};
    auto registers = AccumTile<M>{machine};  // this warp's rows of one box, fp32
    const std::uint32_t columns = smem.out.first.columns;
    const std::uint32_t boxes = problem.extents.accum_columns() / columns;  // of a lane's columns
    for (const Tile tile : problem.tiles(machine)) {
      const std::uint32_t first = tile.n * problem.extents.column_parts() * boxes;
      auto accum = warp.acquire_epilogue_linear();  // waits accum.full
      for (std::uint32_t box = 0; box + 1 < boxes; ++box) {
        registers.load(accum, box * columns, columns);
        registers.store(writer.acquire());  // 128 rows of box_columns bf16, written by all warps
        writer.store(problem.d, {tile.m, first + box}, boxes);
      }
      registers.load(accum, (boxes - 1) * columns, columns);
      std::move(accum).release();  // arrives on the leader's accum.empty
      registers.store(writer.acquire());
      writer.store(problem.d, {tile.m, first + boxes - 1}, boxes);
    }
    writer.drain();             // the stores are complete
    std::move(warp).release();  // arrives on tmem.done of both CTAs
  }
};

struct Gemm2sm : Gemm {
  static constexpr ScenarioInfo kInfo{
      "gemm_2sm", ScenarioKind::kClean, "persistent GEMM by pairs of CTAs, multicast in clusters"};
  using StaticExtents = Gemm2smExtents<GemmExtents<256, 256, 64, 4, 2>, 2, 1>;
  template <Machine M, class Extents>
  using Kernel = Gemm2smKernel<M, Extents>;

  static std::span<const Parameter> parameters() {
    static constexpr Parameter kParameters[] = {
        {"m", "rows of A and D", 512, 1, 1 << 20, "tile_m"},
        {"n", "rows of B, columns of D", 512, 1, 1 << 20, "tile_n"},
        {"k", "columns of A and B", 1024, 1, 1 << 20, "tile_k"},
        {"tile_m", "rows of a pair's tile of D", 256, 64, 256},
        {"tile_n", "columns of a pair's tile of D", 256, 8, 256},
        {"tile_k", "columns of A and B in one stage", 64, 16, 64},
        {"stages", "stages of the input ring", 4, 1, 64},
        {"accum_stages", "accumulators in tensor memory", 2, 1, 64},
        {"cluster_m", "CTAs of a cluster along M: pairs", 2, 2, 16},
        {"cluster_n", "CTAs of a cluster along N", 1, 1, 8},
        {"clusters", "clusters that share the tiles; 0: one for each", 0, 0, 1 << 16},
    };
    return kParameters;
  }
  static Gemm2smExtents<> extents(const ParameterSet& p) {
    return {Gemm::extents(p), p.u32("cluster_m"), p.u32("cluster_n")};
  }
  static Workload workload(const ParameterSet& p) {
    return workload_of(p, extents(p), p.u32("clusters"));
  }
  /// `clusters` of them; 0: one for each tile.
  static Workload workload_of(const ParameterSet& p,
                              const Gemm2smExtents<>& e,
                              std::uint32_t clusters) {
    const auto [m, n, k] = std::array{p.u32("m"), p.u32("n"), p.u32("k")};
    const ClusterShape cluster = e.cluster();
    check_row_pitch("k", k, sizeof(bf16::Storage));
    check_mma_shape(e.tile_m, e.tile_n, cluster.group);
    check_tile_k(e.tile_k, sizeof(bf16::Storage));
    check_cluster(cluster, e.cta_m(), e.cta_n(), e.tile_k * sizeof(bf16::Storage));
    check_tmem_columns(e.accum_stages, e.accum_columns());
    check_stages_fit<Gemm2smStorage<Gemm2smExtents<>>>(e);
    const std::uint32_t slice_a = e.cta_m() / cluster.slice(Operand::kA, 0).count;
    const std::uint32_t slice_b = e.tile_n / 2 / cluster.slice(Operand::kB, 0).count;
    const std::uint32_t box = box_columns<bf16>(e.accum_columns());
    const TileGrid tiles = TileGrid::covering(m, n, e.cta_m(), e.tile_n).in_clusters(cluster);
    return {.tensors = {matrix("a", TensorUse::kInput, m, k),
                        matrix("b", TensorUse::kInput, n, k),
                        matrix("d", TensorUse::kOutput, m, n)},
            .maps = {{0, slice_a, e.tile_k, swizzle_of(e.tile_k * 2)},
                     {1, slice_b, e.tile_k, swizzle_of(e.tile_k * 2)},
                     {2, e.cta_m(), box, swizzle_of(box * 2)}},
            .clusters = tiles.ctas(clusters),
            .cluster_size = cluster.ctas(),
            .registers_per_thread = 80,
            .flops = std::uint64_t{2} * m * n * k};
  }
};

}  // namespace warptwin::scenarios
