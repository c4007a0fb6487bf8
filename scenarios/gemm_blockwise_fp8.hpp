/// Scenario: D = sum over blocks of K of (sa * sb) * (A * B^T), e4m3 in, bf16 out: a factor of A
/// for each row and 128 of K, one of B for each 128 rows and 128 of K. Tensor cores cannot apply
/// them, so each k step has an accumulator of its own, and the epilogue adds up in registers.
///
/// Barrier          Arrivals per phase          Bytes per phase   Completion means
/// input.full[s]    1   load, elected lane      A + B + sa tile   stage s may be read
/// input.empty[s]   5   mma, tcgen05.commit     -                 stage s may be overwritten
///                      (1 of them; 4 of the epilogue, an elected lane of each warp)
/// accum.full[a]    1   mma, tcgen05.commit     -                 the product of a k step is there
/// accum.empty[a]   128 epilogue, every lane    -                 accumulator a may be overwritten
/// tmem.done[0]     128 epilogue, every lane    -                 tensor memory may be freed
///
/// The epilogue does not wait for input.full: that the factors of A are there follows from the
/// MMA's wait and its commit to accum.full. In pairs the peer has no other evidence, since all
/// bytes are counted in the leader; there the counts are those of gemm_2sm, and 4 more on
/// input.empty.
///
/// Expected: clean in every interleaving, for every stages >= 1 and accum_stages >= 1, for any
///           cluster of CTAs or pairs, any number of tiles, and for edges that cut a tile.

#pragma once

#include "common/kernel/parameter_table.hpp"
#include "common/sync/cluster_shape.hpp"
#include "common/tile/scaled_sum.hpp"

#include "scenarios/gemm.hpp"
#include "scenarios/gemm_blockwise_factors.hpp"

namespace warptwin::scenarios {

using BlockwiseParts = GemmPartsOf<f8e4m3, bf16>;

/// `tile_m` by `tile_n` is the shape of an MMA; a CTA of a pair computes half of its rows.
template <class Tiles = GemmExtents<>,
          std::uint32_t kGroup = kDynamic,
          std::uint32_t kClusterM = kDynamic,
          std::uint32_t kClusterN = kDynamic>
struct GemmBlockwiseFp8Extents : Tiles {
  [[no_unique_address]] Extent<kGroup> cta_group;
  [[no_unique_address]] Extent<kClusterM> cluster_m;
  [[no_unique_address]] Extent<kClusterN> cluster_n;

  constexpr std::uint32_t cta_m() const { return this->tile_m / cta_group; }
  constexpr std::uint32_t cta_n() const { return this->tile_n / cta_group; }
  constexpr ClusterShape cluster() const {
    return {cluster_m, cluster_n, cta_group == 2 ? CtaGroup::kTwo : CtaGroup::kOne};
  }
};

/// A CTA's shared memory; the names are those of the reports.
template <class Extents, class Parts = BlockwiseParts>
struct GemmBlockwiseFp8Storage {
  using D = typename Parts::D;
  using Input = InputPipelineStorage<BlockwiseFP8TilePayload<typename Parts::A, typename Parts::B>,
                                     From<Role::kLoad, TmaBytes>,
                                     To<Role::kMma, UmmaCommit>,
                                     To<Role::kEpilogue, ElectedLane>>;
  using Accum = OutputPipelineStorage<From<Role::kMma, UmmaCommit>, To<Role::kEpilogue, EveryLane>>;

  constexpr GemmBlockwiseFp8Storage(auto& layout, const Extents& e)
      : input{layout,
              "input",
              kGemmRoles,
              e.cluster(),
              {{e.cta_m(), e.cta_n(), e.tile_k}},
              e.stages},
        out{layout, "out", kGemmRoles, e.cta_m(), box_columns<D>(e.tile_n)},
        accum{layout, "accum", kGemmRoles, e.cluster(), {e.accum_stages, e.tile_n}},
        tmem{layout, "tmem", kGemmRoles, e.cluster()} {}
  constexpr void init(Machine auto& machine) const {
    input.init(machine);
    accum.init(machine);
    tmem.init(machine);
  }

  Input input;
  OutputTileStorage<D> out;
  Accum accum;
  TmemDeallocStorage<> tmem;
};

template <Machine M, class Extents, class Parts = BlockwiseParts>
struct GemmBlockwiseFp8Kernel {
  using Storage = GemmBlockwiseFp8Storage<Extents, Parts>;
  using Input = PipelineOf<M, typename Storage::Input>;
  using Accum = PipelineOf<M, typename Storage::Accum>;
  using ReadsScales = To<Role::kEpilogue, ElectedLane>;
  static constexpr auto kRoles = kGemmRoles;
  struct Problem {
    typename M::TensorMap a, b, d, a_scales;  // boxes: slices of A and B, (cta_m, box), (1, cta_m)
    [[no_unique_address]] Extents extents;
    TileWalk tile_walk;
    std::uint32_t k_tiles;
    BlockFactors b_scales;
    std::uint32_t first_cluster = 0;  // of the launch, that computes tiles of this product
    constexpr const Problem& product_of(Tile) const { return *this; }
    constexpr StaticTileScheduler tiles(const M& machine) const {
      return {tile_walk,
              machine.cluster_index() - first_cluster,
              machine.cluster_count(),
              machine.cta_rank()};
    }
  };

  static Problem problem(const ParameterSet& p,
                         const Extents& e,
                         std::span<const typename M::TensorMap> maps,
                         std::span<const GlobalAddress> tensors,
                         const TileOrder& order = {}) {
    return product(p.u32("m"), p, e, maps, tensors, order);
  }
  /// The product of `m` rows.
  static Problem product(std::uint32_t m,
                         const ParameterSet& p,
                         const Extents& e,
                         std::span<const typename M::TensorMap> maps,
                         std::span<const GlobalAddress> tensors,
                         const TileOrder& order = {}) {
    const auto grid = TileGrid::covering(m, p.u32("n"), e.cta_m(), e.tile_n);
    const std::uint32_t blocks_n = ceil_div(p.u32("n"), kScaleBlock);
    const std::uint32_t blocks_k = ceil_div(p.u32("k"), kScaleBlock);
    const BlockFactors b_scales{tensors[4], align_up(blocks_k * 4, 16), blocks_n};
    const std::uint32_t k_tiles = ceil_div(p.u32("k"), e.tile_k);
    const TileWalk walk{grid, e.cluster(), order};
    return {maps[0], maps[1], maps[2], maps[3], e, walk, k_tiles, b_scales};
  }

  static constexpr void load(M& machine, const Problem& problem, const Storage& smem) {
    load_tiles(machine, problem, smem, problem.tiles(machine), [] {});
  }
  static constexpr void mma(M& machine, const Problem& problem, const Storage& smem) {
    multiply_tiles_of(machine, problem, smem, problem.tiles(machine));
  }
  static constexpr void epilogue(M& machine, const Problem& problem, const Storage& smem) {
    store_tiles(machine, problem, smem, problem.tiles(machine));
  }

  /// Calls `begins()` when a tile begins. `problem` says of each tile which product it is of; all
  /// have the same extents and k steps.
  static constexpr void load_tiles(
      M& machine, const auto& problem, const Storage& smem, const auto& tiles, auto&& begins) {
    auto input = Input{machine, smem.input}.producer();
    const ClusterShape& cluster = smem.input.cluster;
    const std::uint32_t part = cluster.place_in_group(machine.cta_rank());
    for (const auto tile : tiles) {
      begins();
      const Problem& product = problem.product_of(tile);
      for (std::uint32_t k = 0; k < problem.k_tiles; ++k) {
        auto stage = input.acquire_stage();  // waits input.empty; the leader arms full
        const auto to = stage.payload();
        const std::uint32_t block = k * problem.extents.tile_k / kScaleBlock;
        stage.load(product.a, {tile.m, k}, to.a_tile());  // (cta_m, tile_k)
        stage.load(product.b, {tile.n * cluster.group_ctas() + part, k}, to.b_tile());
        stage.load(product.a_scales, {block, tile.m}, to.a_scales_tile());  // (1, cta_m) f32
        std::move(stage).release();
      }
    }
    input.drain();  // no commit is on its way to input.empty any more
  }

  static constexpr void multiply_tiles_of(M& machine,
                                          const auto& problem,
                                          const Storage& smem,
                                          const auto& tiles) {
    auto warp = MmaWarp<M, Accum>::create(machine, smem.accum, smem.tmem);  // in both of a pair
    auto input = Input{machine, smem.input}.consumer();
    for ([[maybe_unused]] const auto tile : tiles) {
      for (std::uint32_t k = 0; warp.is_leader() && k < problem.k_tiles; ++k) {
        auto accum = warp.acquire_mma_linear();  // waits accum.empty
        auto stage = input.acquire_stage();      // waits input.full
        accum.multiply(stage.payload(), Accumulate::kNo);
        std::move(stage).release();  // commits to input.empty
        std::move(accum).release();  // commits to accum.full
      }
    }
    std::move(warp).release();  // waits tmem.done, frees
  }

  static constexpr void store_tiles(M& machine,
                                    const auto& problem,
                                    const Storage& smem,
                                    const auto& tiles) {
    auto warp = EpilogueWarp<M, Accum>::create(machine, smem.accum, smem.tmem);  // waits hand-over
    auto input = Input{machine, smem.input}.consumer();
    auto writer = TileWriter<M, typename Parts::D>{machine, smem.out};
    auto sum = ScaledSum<M>{machine};  // this warp's rows of the tile, fp32
    const std::uint32_t tile_n = problem.extents.tile_n;
    const std::uint32_t columns = smem.out.first.columns;
    for (const auto tile : tiles) {
      const auto& product = problem.product_of(tile);
      sum.clear();
      for (std::uint32_t k = 0; k < problem.k_tiles; ++k) {
        // A tile lies in two blocks of N at most; their factors come while the MMA is at work.
        const std::uint32_t n = tile.n * tile_n;
        const bool cut = n / kScaleBlock != (n + tile_n - 1) / kScaleBlock;
        const std::uint32_t first_k = k * problem.extents.tile_k;
        const float low = machine.ld_global_f32(product.b_scales.at(n, first_k));
        const float high =
            cut ? machine.ld_global_f32(product.b_scales.at(n + tile_n - 1, first_k)) : low;
        auto step = warp.template per_k_stage<ReadsScales>(input.pipeline());  // waits accum.full
        typename ScaledSum<M>::RowFactors rows;
        sum.load_factors(rows, step.payload().a_scales_tile().tile);
        step.arrive_input();  // arrives on input.empty, beside the MMA's commit
        const auto factor = [&](std::uint32_t column) {
          return (n + column) / kScaleBlock == n / kScaleBlock ? low : high;
        };
        sum.template add<typename Parts::Function>(step.output(), tile_n, rows, factor);
        step.release_output();  // arrives on accum.empty, of the leader
      }
      for (std::uint32_t box = 0; box < tile_n / columns; ++box) {
        sum.store(writer.acquire(), box * columns);  // (cta_m, box_columns) of D, by all warps
        writer.store(product.d, {tile.m, tile.n * (tile_n / columns) + box});
      }
    }
    writer.drain();             // the stores are complete
    std::move(warp).release();  // arrives on tmem.done
  }
};

/// What the scenarios of every choice of parts share.
template <class Elements>
struct GemmBlockwiseFp8Of {
  using Parts = Elements;
  using A = typename Parts::A;
  using StaticExtents = GemmBlockwiseFp8Extents<GemmExtents<128, 64, 128, 4, 2>, 1, 1, 1>;
  template <Machine M, class Extents>
  using Kernel = GemmBlockwiseFp8Kernel<M, Extents, Parts>;

  static std::span<const Parameter> parameters() {
    static const auto kParameters = extended(
        shapes(), {{"clusters", "clusters that share the tiles; 0: one for each", 0, 0, 1 << 16}});
    return kParameters;
  }
  /// The parameters that say nothing of who shares the tiles.
  static std::span<const Parameter> shapes() {
    static constexpr Parameter kParameters[] = {
        {"m", "rows of A and D", 256, 1, 1 << 20, "tile_m"},
        {"n", "rows of B, columns of D", 256, 1, 1 << 20, "tile_n"},
        {"k", "columns of A and B", 1024, 1, 1 << 20, "tile_k"},
        {"tile_m", "rows of an MMA's tile of D", 128, 64, 256},
        {"tile_n", "columns of an MMA's tile of D", 64, 8, 256},
        {"tile_k", "columns of A and B in one stage", 128, 32, 128},
        {"stages", "stages of the input ring", 4, 1, 64},
        {"accum_stages", "accumulators in tensor memory", 2, 1, 64},
        {"cta_group", "CTAs that share an MMA", 1, 1, 2},
        {"cluster_m", "CTAs of a cluster along M", 1, 1, 16},
        {"cluster_n", "CTAs of a cluster along N", 1, 1, 8},
    };
    return kParameters;
  }
  static GemmBlockwiseFp8Extents<> extents(const ParameterSet& p) {
    return {Gemm::extents(p), p.u32("cta_group"), p.u32("cluster_m"), p.u32("cluster_n")};
  }
  static Workload workload(const ParameterSet& p) {
    return launch_of(p, extents(p), p.u32("clusters"));
  }
  /// `clusters` of them; 0: one for each tile.
  static Workload launch_of(const ParameterSet& p,
                            const GemmBlockwiseFp8Extents<>& e,
                            std::uint32_t clusters) {
    const auto [m, n, k] = std::array{p.u32("m"), p.u32("n"), p.u32("k")};
    Workload workload = workload_of(e, k);
    add_blockwise_product<Parts>(workload, {"a", "b", "d", "a_scales", "b_scales"}, m, n, k, e);
    workload.clusters =
        TileGrid::covering(m, n, e.cta_m(), e.tile_n).in_clusters(e.cluster()).ctas(clusters);
    return workload;
  }
  static void reference(const ParameterSet&, std::span<HostTensor> tensors) {
    multiply_by_blocks_reference(tensors);
  }

 protected:
  /// A workload without products, of tiles that fit.
  static Workload workload_of(const GemmBlockwiseFp8Extents<>& e, std::uint32_t k) {
    const ClusterShape cluster = e.cluster();
    check_row_pitch("k", k, kBytesOf<A>);
    check_tile_shape(e.tile_m, e.tile_n, e.tile_k, kBytesOf<A>, cluster.group);
    check_mma_shape(e.tile_m, e.tile_n, cluster.group, kind_of(A::kType));
    require(e.tile_n <= kScaledSumColumnsMax,
            "tile_n=" + std::to_string(e.tile_n) +
                " sums do not fit the registers of a lane; use tile_n<=128");
    check_cluster(cluster, e.cta_m(), e.cta_n(), e.tile_k * kBytesOf<A>);
    check_tmem_columns(e.accum_stages, e.tile_n);
    check_stages_fit<GemmBlockwiseFp8Storage<GemmBlockwiseFp8Extents<>, Parts>>(e);
    Workload workload;
    workload.cluster_size = cluster.ctas();
    workload.registers_per_thread = e.tile_n > 64 ? 256U : 120U;  // of the sums
    return workload;
  }
};

struct GemmBlockwiseFp8 : GemmBlockwiseFp8Of<BlockwiseParts> {
  static constexpr ScenarioInfo kInfo{"gemm_blockwise_fp8",
                                      ScenarioKind::kClean,
                                      "persistent e4m3 GEMM, scaled by blocks: an accumulator a "
                                      "k step"};
};

}  // namespace warptwin::scenarios
