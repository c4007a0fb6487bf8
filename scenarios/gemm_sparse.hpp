/// Scenario: D = A * B^T with a sparse A: of each four elements of a row along K two are stored, of
/// tf32 one of two, and metadata says which they were. bf16 in and out, or what the `Parts` say;
/// fixed tiles, otherwise as gemm_multicast. gemm_sparse_2sm is the same text by pairs of CTAs.
///
/// Barrier          Arrivals per phase          Bytes per phase     Completion means
/// input.full[s]    1   load, elected lane      A, B and metadata   stage s may be read
/// input.empty[s]   1   mma, tcgen05.commit     -                   stage s may be overwritten
/// accum.full[a]    1   mma, tcgen05.commit     -                   accumulator a is complete
/// accum.empty[a]   128 epilogue, every lane    -                   a may be overwritten
/// tmem.done[0]     128 epilogue, every lane    -                   tensor memory may be freed
///
/// Tensor memory: the accumulators, then a slot of metadata for each input stage. The MMA warp
/// copies a stage's metadata to its slot; the MMAs that read the slot before are complete, as the
/// stage could be filled again. Metadata is each CTA's own, of its rows of A; in pairs the leader
/// copies it in both.
///
/// Expected: clean in every interleaving, for every stages >= 1 and accum_stages >= 1, any cluster
///           of CTAs or pairs, any number of tiles, and for edges that cut a tile.

#pragma once

#include "common/kernel/sparse_host.hpp"
#include "common/tile/sparse_operand.hpp"

#include "scenarios/gemm_beside.hpp"

namespace warptwin::scenarios {

/// What gemm_2sm has, with metadata in the stages and in tensor memory.
template <class Extents, class Parts>
struct GemmSparseStorage : Gemm2smStorage<Extents, Parts, SparseTilePayload<typename Parts::A>> {
  constexpr GemmSparseStorage(auto& layout, const Extents& e)
      : Gemm2smStorage<Extents, Parts, SparseTilePayload<typename Parts::A>>{
            layout,
            e,
            {e.cta_m(), e.cta_n()},
            e.tile_n,
            e.stages * SparseMetadataOf<typename Parts::A>::kColumns} {}
};

/// Steps of the MMA warp. A wrong twin derives from it, and has one step anew.
struct SparseSteps {
  static constexpr void multiply(auto& machine,
                                 CtaGroup group,
                                 const auto& accum,
                                 const auto& tiles,
                                 TmemAddress metadata,
                                 Accumulate accumulate) {
    copy_metadata(machine, group, tiles.metadata_tile().tile, metadata);
    multiply_sparse(
        machine, group, accum.tmem().address(), tiles.a_tile().tile, tiles.b, metadata, accumulate);
  }
  /// The slot of stage `index` of `stages`.
  static constexpr std::uint32_t slot(std::uint32_t index, std::uint32_t /*stages*/) {
    return index;
  }
};

template <Machine M, class Extents, class Parts = GemmParts, class Steps = SparseSteps>
struct GemmSparseKernel : Gemm2smKernel<M, Extents, Parts, GemmSparseStorage<Extents, Parts>> {
  using Base = Gemm2smKernel<M, Extents, Parts, GemmSparseStorage<Extents, Parts>>;
  using Storage = typename Base::Storage;
  using Input = typename Base::Input;
  using Accum = typename Base::Accum;
  using Metadata = SparseMetadataOf<typename Parts::A>;
  struct Problem : Base::Problem {
    typename M::TensorMap metadata;  // boxes: all blocks of a step
  };

  static Problem problem(const ParameterSet& p,
                         const Extents& e,
                         std::span<const typename M::TensorMap> maps,
                         std::span<const GlobalAddress> tensors,
                         const TileOrder& order = {}) {
    return {Base::problem(p, e, maps, tensors, order), maps[3]};
  }

  static constexpr void load(M& machine, const Problem& problem, const Storage& smem) {
    load_tiles(machine, problem, smem, problem.tiles(machine), [] {});
  }
  static constexpr void mma(M& machine, const Problem& problem, const Storage& smem) {
    multiply_tiles_of(machine, problem, smem, problem.tiles(machine));
  }

  /// Calls `begins()` when a tile begins.
  template <class F>
  static constexpr void load_tiles(
      M& machine, const Problem& problem, const Storage& smem, const auto& tiles, F&& begins) {
    auto input = Input{machine, smem.input}.producer();
    const std::uint32_t part = smem.input.cluster.place_in_group(machine.cta_rank());
    for (const Tile tile : tiles) {
      begins();
      for (std::uint32_t k = 0; k < problem.k_tiles; ++k) {
        auto stage = input.acquire_stage();  // waits input.empty; the leader arms full, for both
        const auto to = stage.payload();
        stage.load(problem.a, {tile.m, k}, to.a_tile());  // (cta_m, 128 bytes): half of K
        for (std::uint32_t i = 0; i < to.b.panels(); ++i) {
          const std::uint32_t row = Extents::kCtas * tile.n + part;
          stage.load(problem.b, {row, k * to.b.panels() + i}, to.b_panel(i));  // (cta_n, 128 bytes)
        }
        stage.load(problem.metadata, {tile.m * problem.k_tiles + k, 0}, to.metadata_tile());
        std::move(stage).release();
      }
    }
    input.drain();  // no commit is on its way to input.empty any more
  }

  static constexpr void multiply_tiles_of(M& machine,
                                          const Problem& problem,
                                          const Storage& smem,
                                          const auto& tiles) {
    auto warp = MmaWarp<M, Accum>::create(machine, smem.accum, smem.tmem);  // in both, together
    auto input = Input{machine, smem.input}.consumer();
    const CtaGroup group = smem.accum.cluster.group;
    const TmemAddress slots = warp.tmem().base.at_column(smem.accum.config.accum_columns());
    for ([[maybe_unused]] const Tile tile : tiles) {
      if (!warp.is_leader()) {
        continue;  // it learns which tiles there are, and that is all
      }
      auto accum = warp.acquire_mma_linear();  // waits accum.empty, of both epilogues
      for (std::uint32_t k = 0; k < problem.k_tiles; ++k) {
        auto stage = input.acquire_stage();  // waits input.full
        const std::uint32_t slot = Steps::slot(stage.index(), problem.extents.stages);
        Steps::multiply(machine,
                        group,
                        accum,
                        stage.payload(),
                        slots.at_column(slot * Metadata::kColumns),
                        k == 0 ? Accumulate::kNo : Accumulate::kYes);
        std::move(stage).release();  // commits to input.empty of all whose copies it has read
      }
      std::move(accum).release();  // commits to accum.full of the pair
    }
    std::move(warp).release();  // waits tmem.done, frees
  }
};

/// What the scenarios of either group, and of every choice of parts, share.
template <CtaGroup kGroup, class Parts = GemmParts>
struct GemmSparseOf : GemmBesideOf<GemmSparseOf<kGroup, Parts>, kGroup, Parts> {
  using Frame = GemmBesideOf<GemmSparseOf<kGroup, Parts>, kGroup, Parts>;
  using Base = GemmClusterOf<kGroup, Parts>;
  using Base::kCtas;
  using Extents = typename Base::Extents;
  using Storage = GemmSparseStorage<Extents, Parts>;
  using A = typename Parts::A;
  using Metadata = SparseMetadataOf<A>;
  using Shape = GemmExtents<128 * kCtas, 128, Metadata::kK, kCtas == 2 ? 4 : 3, 1>;
  static constexpr std::uint32_t kPitchK = 32 / kBytesOf<A>;  // of 16 bytes of A without zeros
  using StaticExtents = GemmClusterExtents<kGroup, Shape, kCtas, 1>;
  template <Machine M, class Extents>
  using Kernel = GemmSparseKernel<M, Extents, Parts>;

  /// The parameters that say nothing of who shares the tiles.
  static std::span<const Parameter> shapes() {
    static const auto kParameters = Frame::shapes_with({
        {"k",
         "columns of A with its zeros, and of B",
         8 * Metadata::kK,
         kPitchK,
         1 << 20,
         "tile_k"},
        {"tile_n", "columns of an MMA's tile of D", 128, 8, 256},
        {"tile_k", "columns of B in one stage", Metadata::kK, Metadata::kK, Metadata::kK},
        {"stages", "stages of the input ring", Shape{}.stages, 1, 64},
        {"cluster_n", "CTAs of a cluster along N", 1, 1, 8},
    });
    return kParameters;
  }
  /// `clusters` of them; 0: one for each tile.
  static Workload workload_of(const ParameterSet& p, const Extents& e, std::uint32_t clusters) {
    const auto [m, n, k] = std::array{p.u32("m"), p.u32("n"), p.u32("k")};
    const ClusterShape cluster = e.cluster();
    const std::uint32_t box = box_columns<typename Parts::D>(e.tile_n);
    require(k % kPitchK == 0,
            "k=" + std::to_string(k) + " gives rows of A without zeros that no copy steps over; " +
                "use a multiple of " + std::to_string(kPitchK));
    check_mma_shape(e.tile_m, e.tile_n, kGroup, kind_of(A::kType));
    check_box_columns(e.tile_n, box, kBytesOf<typename Parts::D>);
    check_cluster(cluster, e.cta_m(), e.cta_n(), Metadata::kRowBytes);
    Frame::check_tmem(e, "stages=" + std::to_string(e.stages), e.stages * Metadata::kColumns);
    check_stages_fit<Storage>(e);
    const std::uint32_t slice_a = e.cta_m() / cluster.slice(Operand::kA, 0).count;
    const std::uint32_t slice_b = e.cta_n() / cluster.slice(Operand::kB, 0).count;
    const TileGrid tiles = TileGrid::covering(m, n, e.cta_m(), e.tile_n).in_clusters(cluster);
    const std::uint32_t steps = ceil_div(m, kTmemLanes) * ceil_div(k, Metadata::kK);
    TensorSpec metadata = matrix("metadata",
                                 TensorUse::kScratch,
                                 steps * Metadata::kLines,
                                 kSparseLineBytes,
                                 SparseMetadataByte::kType);
    metadata.words = sparse_metadata<A>(m, k, drawn_places<A>);
    return {.tensors = {matrix("a", TensorUse::kInput, m, k / 2, A::kType),
                        matrix("b", TensorUse::kInput, n, k, A::kType),
                        matrix("d", TensorUse::kOutput, m, n, Parts::D::kType),
                        metadata},
            .maps = {tile_map<A>(0, slice_a, Metadata::kK / 2),
                     tile_map<A>(1, slice_b, Metadata::kK / 2),
                     tile_map<typename Parts::D>(2, e.cta_m(), box),
                     {3, Metadata::kLines, kSparseLineBytes, Swizzle::kNone}},
            .clusters = tiles.ctas(clusters),
            .cluster_size = cluster.ctas(),
            .registers_per_thread = Parts::kThread.of_fixed(kCtas),
            .flops = std::uint64_t{2} * m * n * k};
  }
  static void reference(const ParameterSet&, std::span<HostTensor> tensors) {
    multiply_reference(with_zeros<A>(tensors[0], drawn_places<A>), tensors[1], tensors[2]);
  }
};

struct GemmSparse : GemmSparseOf<CtaGroup::kOne> {
  static constexpr ScenarioInfo kInfo{
      "gemm_sparse", ScenarioKind::kClean, "GEMM whose A is sparse, two of four along K: mma.sp"};
};

}  // namespace warptwin::scenarios
