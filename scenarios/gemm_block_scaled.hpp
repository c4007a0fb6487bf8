/// Scenario: D = A * B^T of block-scaled operands: every 32 or 16 elements of a row share a scale
/// factor. MXFP8, MXFP4 or NVFP4 in, fp32 accumulation, bf16 out; otherwise as `gemm`, or, in pairs
/// and in clusters, as gemm_2sm.
///
/// Barrier         Arrivals per phase         Bytes per phase       Completion means
/// input.full[s]   1   load, elected lane     A, B, SFA, SFB tiles  stage s may be read
/// input.empty[s]  1   mma, tcgen05.commit    -                     stage s may be overwritten
/// accum.full[a]   1   mma, tcgen05.commit    -                     accumulator a is complete
/// accum.empty[a]  128 epilogue, every lane   -                     a may be overwritten
/// tmem.done[0]    128 epilogue, every lane   -                     tensor memory may be freed
///
/// Tensor memory: the accumulators, then a slot of scale factors for each input stage. The MMA warp
/// copies a stage's factors to its slot; the MMAs that read the slot before are complete, as the
/// stage could be filled again.
///
/// In pairs the counts are those of gemm_2sm. Factors are not shared: each CTA loads those of its
/// own rows of A and of all of the pair's rows of B. The leader alone copies, from the shared to
/// the tensor memory of both: that the peer's factors have come is told by the leader's full
/// barrier, which counts the bytes of both, and that they were read by the commit to input.empty.
///
/// Expected: clean in every interleaving, for every format, stages >= 1 and accum_stages >= 1, any
///           cluster of CTAs or pairs, any number of tiles, and for edges that cut a tile.

#pragma once

#include <algorithm>

#include "common/kernel/block_scale_host.hpp"
#include "common/kernel/parameter_table.hpp"

#include "scenarios/gemm_block_scaled_storage.hpp"

namespace warptwin::scenarios {

/// Shapes and depths: constants on a GPU, run-time values in the simulator. `tile_m` by `tile_n` is
/// the shape of an MMA.
template <Machine M, class Extents, class Parts = GemmParts, class Products = OneProduct>
struct GemmBlockScaledKernel
    : Gemm2smKernel<M, Extents, Parts, GemmBlockScaledStorage<Extents, Parts>> {
  using Base = Gemm2smKernel<M, Extents, Parts, GemmBlockScaledStorage<Extents, Parts>>;
  using Storage = typename Base::Storage;
  using Input = typename Base::Input;
  using Accum = typename Base::Accum;
  using Operands = typename ScaledOperandsOf<Parts>::Type;
  using Beside = typename Operands::template Maps<typename M::TensorMap>;
  struct Problem : Base::Problem {
    [[no_unique_address]] Products products;
    [[no_unique_address]] Beside beside;
    typename M::TensorMap sfa, sfb;  // boxes: the factors of 128 rows

    constexpr ScaledTileShape shape() const { return scaled_shape<Operands>(this->extents); }
  };

  static Problem problem(const ParameterSet& p,
                         const Extents& e,
                         std::span<const typename M::TensorMap> maps,
                         std::span<const GlobalAddress> tensors,
                         const TileOrder& order = {}) {
    const auto products = Products::of(p, e);
    Problem problem{Base::problem(p, e, maps, tensors, order), products, {}, maps[3], maps[4]};
    if constexpr (Operands::kSparseA) {
      problem.beside = {maps[5]};
    }
    const auto grid = TileGrid::covering(p.u32("m"), p.u32("n"), e.cta_m(), e.tile_n);
    problem.tile_walk = products.walk(grid, e, order);
    return problem;
  }

  /// As ResultSteps, of the product that a tile is of.
  struct Steps : Base::Steps {
    template <class Own>
    static constexpr void store(auto& registers,
                                typename Base::Steps::Writer& writer,
                                const auto& problem,
                                Tile tile,
                                std::uint32_t box,
                                std::uint32_t boxes) {
      const auto at = problem.products.at(tile);
      registers.store(writer.acquire());
      writer.store_boxes(problem.d, [&](std::uint32_t) {
        return at.index({at.tile.m, at.tile.n * boxes + box});
      });
    }
  };

  static constexpr void load(M& machine, const Problem& problem, const Storage& smem) {
    load_tiles(machine, problem, smem, problem.tiles(machine), [] {});
  }
  static constexpr void mma(M& machine, const Problem& problem, const Storage& smem) {
    multiply_tiles_of(machine, problem, smem, problem.tiles(machine));
  }
  static constexpr void epilogue(M& machine, const Problem& problem, const Storage& smem) {
    store_tiles(machine, problem, smem, problem.tiles(machine));
  }

  static constexpr void store_tiles(M& machine,
                                    const Problem& problem,
                                    const Storage& smem,
                                    const auto& tiles) {
    store_tiles_by(machine, problem, smem, tiles, typename Parts::Function{});
  }
  static constexpr void store_tiles_by(M& machine,
                                       const Problem& problem,
                                       const Storage& smem,
                                       const auto& tiles,
                                       const auto& function) {
    Base::template store_tiles_by<Steps>(machine, problem, smem, tiles, function);
  }

  /// Calls `begins()` when a tile begins.
  template <class F>
  static constexpr void load_tiles(
      M& machine, const Problem& problem, const Storage& smem, const auto& tiles, F&& begins) {
    auto input = Input{machine, smem.input}.producer();
    const ScaledTileShape shape = problem.shape();
    const std::uint32_t ctas = ctas_in(shape.group);
    const std::uint32_t part = smem.input.cluster.place_in_group(machine.cta_rank());
    for (const Tile each : tiles) {
      begins();
      const auto at = problem.products.at(each);
      const Tile tile = at.tile;
      for (std::uint32_t k = 0; k < problem.k_tiles; ++k) {
        auto stage = input.acquire_stage();  // waits input.empty; the leader arms full, for both
        const auto to = stage.payload();
        Operands::load(stage, problem, at, ctas * tile.n + part, k);
        stage.load(problem.sfa, {(at.sfa_blocks + tile.m) * problem.k_tiles + k, 0}, to.sfa_tile());
        for (std::uint32_t row = 0; row < shape.b_blocks(); ++row) {  // of both CTAs
          const std::uint32_t block = at.sfb_blocks + shape.first_block(tile.n) + row;
          stage.load(problem.sfb,
                     {block * problem.k_tiles + k, 0},
                     block_row(to.sfb_tile(), row, shape.k_blocks()));
        }
        std::move(stage).release();
      }
    }
    input.drain();  // no commit is on its way to input.empty any more
  }

  /// The slots of scale factors, behind the accumulators.
  static constexpr ScaleSlots slots(const Problem& problem,
                                    const Storage& smem,
                                    const TmemAllocation& tmem) {
    return {tmem.base.at_column(smem.accum.config.accum_columns()),
            problem.shape(),
            problem.extents.stages};
  }

  static constexpr void multiply_tiles_of(M& machine,
                                          const Problem& problem,
                                          const Storage& smem,
                                          const auto& tiles) {
    auto warp = MmaWarp<M, Accum>::create(machine, smem.accum, smem.tmem);  // in both, together
    auto input = Input{machine, smem.input}.consumer();
    const ScaledTileShape shape = problem.shape();
    const ScaleSlots scales = slots(problem, smem, warp.tmem());
    for (const Tile tile : tiles) {
      if (!warp.is_leader()) {
        continue;  // it learns which tiles there are, and that is all
      }
      const std::uint32_t first_column = shape.first_column(problem.products.at(tile).tile.n);
      auto accum = warp.acquire_mma_linear();  // waits accum.empty, of both epilogues
      for (std::uint32_t k = 0; k < problem.k_tiles; ++k) {
        auto stage = input.acquire_stage();  // waits input.full
        ScaleSlot slot = scales[stage.index()];
        copy_scales(machine, shape, stage.payload(), slot);  // in both CTAs
        slot.b = slot.b.at_column(first_column);
        Operands::multiply(machine,
                           accum,
                           shape,
                           stage.payload(),
                           slot,
                           k == 0 ? Accumulate::kNo : Accumulate::kYes);
        std::move(stage).release();  // commits to input.empty of all whose copies it has read
      }
      std::move(accum).release();  // commits to accum.full of the pair
    }
    std::move(warp).release();  // waits tmem.done, frees
  }
};

/// What the scenarios of every choice of parts, and of products, share.
template <class Parts = GemmParts, class Products = OneProduct>
struct GemmBlockScaledOf {
  using Operands = typename ScaledOperandsOf<Parts>::Type;
  using Storage = GemmBlockScaledStorage<GemmBlockScaledClusterExtents<>, Parts>;
  using Extents = GemmBlockScaledClusterExtents<>;
  using StaticExtents = GemmBlockScaledClusterExtents<
      GemmBlockScaledExtents<0, 128, 128, Operands::kRowBytes, Operands::kStages[0], 2>,
      1,
      1,
      1>;
  template <Machine M, class Extents>
  using Kernel = GemmBlockScaledKernel<M, Extents, Parts, Products>;

  static std::span<const Parameter> parameters() {
    static const auto kParameters = extended(
        shapes(),
        {{"ctas", "CTAs, or clusters, that share the tiles; 0: one for each", 0, 0, 1 << 16}});
    return kParameters;
  }
  /// The parameters that say nothing of who shares the tiles.
  static std::span<const Parameter> shapes() {
    static constexpr Parameter kParameters[] = {
        {"m", "rows of A and D", 256, 1, 1 << 20, "tile_m"},
        {"n", "rows of B, columns of D", 384, 1, 1 << 20, "tile_n"},
        {"k", "columns of A and B", 1024, 32, 1 << 20, "tile_k"},
        {"format", "0: MXFP8, 1: MXFP4, 2: NVFP4", 0, 0, 2},
        {"tile_m", "rows of an MMA's tile of D: 128 a CTA", 128, 128, 256},
        {"tile_n", "columns of an MMA's tile of D", 128, 32, 256},
        {"tile_k",
         "columns of A and B in one stage",
         Operands::kRowBytes,
         64,
         2 * Operands::kRowBytes},
        {"stages", "stages of the input ring", Operands::kStages[0], 1, 64},
        {"accum_stages", "accumulators in tensor memory", 2, 1, 64},
        {"cta_group", "CTAs that share an MMA", 1, 1, 2},
        {"cluster_m", "CTAs of a cluster along M", 1, 1, 16},
        {"cluster_n", "CTAs of a cluster along N", 1, 1, 8},
    };
    return kParameters;
  }
  static GemmBlockScaledExtents<> tiles(const ParameterSet& p) {
    return {p.u32("format"),
            p.u32("tile_m"),
            p.u32("tile_n"),
            p.u32("tile_k"),
            p.u32("stages"),
            p.u32("accum_stages")};
  }
  static Extents extents(const ParameterSet& p) {
    return {tiles(p), p.u32("cta_group"), p.u32("cluster_m"), p.u32("cluster_n")};
  }
  static Workload workload(const ParameterSet& p) {
    return workload_of(p, extents(p), p.u32("ctas"));
  }
  /// `clusters` of them; 0: one for each tile.
  static Workload workload_of(const ParameterSet& p, const Extents& e, std::uint32_t clusters) {
    const ScaledTileShape shape = scaled_shape<Operands>(e);
    const ClusterShape cluster = e.cluster();
    const auto [m, n, k] = std::array{p.u32("m"), p.u32("n"), p.u32("k")};
    check_scaled_tile(shape);
    check_scaled_k(k, shape.sparse_a);
    const std::uint32_t row_bytes = std::min(shape.row_bytes(), 128U);  // of a box
    check_cluster(cluster, e.cta_m(), e.cta_n(), row_bytes);
    check_scale_columns(e.accum_stages, e.stages, shape);
    check_stages_fit<Storage>(e);
    const TileGrid grid = TileGrid::covering(m, n, e.cta_m(), e.tile_n).in_clusters(cluster);
    const std::uint32_t k_tiles = ceil_div(k, e.tile_k);
    const std::uint32_t slice_a = e.cta_m() / cluster.slice(Operand::kA, 0).count;
    const std::uint32_t slice_b = e.cta_n() / cluster.slice(Operand::kB, 0).count;
    const ResultBoxes box = ResultBoxes::of<Parts>(e, e.tile_n);
    check_result<Parts>(e, box, m);
    const std::uint32_t lines = kScaleBlockLines * shape.k_blocks();  // of 128 rows in a k step
    const ElementType element = element_of(shape.format);
    return {.tensors = {matrix("a", TensorUse::kInput, m, k, element),
                        matrix("b", TensorUse::kInput, n, k, element),
                        scale_tensor("sfa", m, k_tiles, shape),
                        scale_tensor("sfb", n, k_tiles, shape),
                        matrix("d", TensorUse::kOutput, m, n)},
            .maps = {{0, slice_a, row_bytes, swizzle_of(row_bytes)},
                     {1, slice_b, row_bytes, swizzle_of(row_bytes)},
                     tile_map<typename Parts::D>(4, box.stored_rows, box.columns),
                     {2, lines, 16, Swizzle::kNone},
                     {3, lines, 16, Swizzle::kNone}},
            .clusters = grid.ctas(clusters),
            .cluster_size = cluster.ctas(),
            .registers_per_thread = 80,
            .flops = std::uint64_t{2} * m * n * k};
  }
  static void reference(const ParameterSet& p, std::span<HostTensor> tensors) {
    multiply_scaled_reference(
        scaled_shape<Operands>(tiles(p)), ceil_div(p.u32("k"), p.u32("tile_k")), tensors);
  }
};

struct GemmBlockScaled : GemmBlockScaledOf<> {
  static constexpr ScenarioInfo kInfo{"gemm_block_scaled",
                                      ScenarioKind::kClean,
                                      "persistent GEMM of MXFP8, MXFP4 or NVFP4 operands"};
};

}  // namespace warptwin::scenarios
