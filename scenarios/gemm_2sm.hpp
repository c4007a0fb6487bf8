/// Scenario: D = A * B^T as in gemm, by pairs of CTAs: one MMA of cta_group::2 computes both CTAs'
/// tiles. A CTA holds its own rows of A and of D, and half of the pair's rows of B. The extents say
/// how many CTAs an MMA is of: gemm_multicast is the same text with one.
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

#include <algorithm>
#include <array>
#include <type_traits>

#include "scenarios/gemm_2sm_storage.hpp"

namespace warptwin::scenarios {

/// The roles, and the same of tiles that a kernel above this one hands out.
template <Machine M,
          class Extents,
          class Parts = GemmParts,
          class StorageOf = Gemm2smStorage<Extents, Parts>>
struct Gemm2smKernel {
  using Storage = StorageOf;
  using Input = PipelineOf<M, typename Storage::Input>;
  using Accum = PipelineOf<M, typename Storage::Accum>;
  using Steps = ResultSteps<M, Parts>;
  static constexpr auto kRoles = kGemmRolesWith<Parts::kWarpgroups, Parts::kLoadWarps>;
  struct Problem {
    typename M::TensorMap a, b, d;  // boxes: slices of A and B, those of `ResultBoxes`
    [[no_unique_address]] Extents extents;
    TileWalk tile_walk;
    std::uint32_t k_tiles;
    constexpr StaticTileScheduler tiles(const M& machine) const { return {tile_walk, machine}; }
  };

  static Problem problem(const ParameterSet& p,
                         const Extents& e,
                         std::span<const typename M::TensorMap> maps,
                         std::span<const GlobalAddress>,
                         const TileOrder& order = {}) {
    const auto grid = TileGrid::covering(p.u32("m"), p.u32("n"), e.cta_m(), e.tile_n);
    const TileWalk walk{grid, e.cluster(), order};
    return {maps[0], maps[1], maps[2], e, walk, ceil_div(p.u32("k"), e.tile_k)};
  }

  static constexpr void load(M& machine, const Problem& problem, const Storage& smem) {
    load_tiles(machine, problem, smem, problem.tiles(machine), [] {});
  }
  static constexpr void mma(M& machine, const auto& problem, const Storage& smem) {
    multiply_tiles_of(machine, problem, smem, problem.tiles(machine));
  }
  static constexpr void epilogue(M& machine, const auto& problem, const Storage& smem) {
    store_tiles(machine, problem, smem, problem.tiles(machine));
  }

  /// Brings the maps nearer, and of B what the stages will hold of `tile`: hints, which may come
  /// before the grid before is over.
  static constexpr void prefetch(M& machine,
                                 const Problem& problem,
                                 const Storage& smem,
                                 Tile tile) {
    if constexpr (Parts::kPrefetch) {
      static_assert(Parts::kMajorB == Major::kK, "a box is rows of B");
      machine.prefetch_tensormap(problem.a);
      machine.prefetch_tensormap(problem.b);
      const Extents& e = problem.extents;
      const ClusterShape& cluster = smem.input.cluster;
      const OperandSlice slice = cluster.slice(Operand::kB, machine.cta_rank());
      const std::uint32_t part =
          Extents::kCtas * tile.n + cluster.place_in_group(machine.cta_rank());
      const std::uint32_t row = part * e.cta_n() + slice.index * (e.cta_n() / slice.count);
      for (std::uint32_t k = 0; k < std::min<std::uint32_t>(e.stages, problem.k_tiles); ++k) {
        machine.cp_async_bulk_prefetch_tensor(
            problem.b, {{static_cast<std::int32_t>(k * e.tile_k), static_cast<std::int32_t>(row)}});
      }
    }
  }
  /// Calls `begins()` when a tile begins.
  template <class F>
  static constexpr void load_tiles(
      M& machine, const Problem& problem, const Storage& smem, const auto& tiles, F&& begins) {
    load_tiles_by(machine, problem.a, problem.b, problem.k_tiles, smem, tiles, begins);
  }
  /// The same by maps that are given.
  static constexpr void load_tiles_by(M& machine,
                                      const typename M::TensorMap& a,
                                      const typename M::TensorMap& b,
                                      std::uint32_t k_tiles,
                                      const Storage& smem,
                                      const auto& tiles,
                                      auto&& begins) {
    const std::uint32_t part = smem.input.cluster.place_in_group(machine.cta_rank());
    const auto copy = [&](auto& stage, Tile tile, std::uint32_t k) {
      stage.load(a, {tile.m, k}, stage.payload().a_tile());  // (cta_m, tile_k)
      stage.load(b, {Extents::kCtas * tile.n + part, k}, stage.payload().b_tile());
    };
    load_tiles_with(machine, k_tiles, smem, tiles, begins, copy);
  }
  /// The same by `copy(stage, tile, k)`.
  static constexpr void load_tiles_with(M& machine,
                                        std::uint32_t k_tiles,
                                        const Storage& smem,
                                        const auto& tiles,
                                        auto&& begins,
                                        auto&& copy) {
    auto input = Input{machine, smem.input}.producer();
    for (const Tile tile : tiles) {
      begins();
      for (std::uint32_t k = 0; k < k_tiles; ++k) {
        auto stage = input.acquire_stage();  // waits input.empty; the leader arms full, for both
        copy(stage, tile, k);
        std::move(stage).release();
      }
    }
    input.drain();  // no commit is on its way to input.empty any more
  }

  static constexpr void multiply_tiles_of(M& machine,
                                          const auto& problem,
                                          const Storage& smem,
                                          const auto& tiles) {
    auto warp = MmaWarp<M, Accum>::create(machine, smem.accum, smem.tmem);  // in both, together
    auto input = Input{machine, smem.input}.consumer();
    for ([[maybe_unused]] const Tile tile : tiles) {
      if (!warp.is_leader()) {
        input.pass_on(problem.k_tiles);  // what lanes copy; otherwise it learns which tiles, alone
        continue;
      }
      auto accum = warp.acquire_mma_linear();  // waits accum.empty, of both epilogues
      for (std::uint32_t k = 0; k < problem.k_tiles; ++k) {
        auto stage = input.acquire_stage();  // waits input.full
        accum.multiply(stage.payload(), k == 0 ? Accumulate::kNo : Accumulate::kYes);
        std::move(stage).release();  // commits to input.empty of all whose copies it has read
      }
      std::move(accum).release();  // commits to accum.full of the pair
    }
    std::move(warp).release();  // waits tmem.done, frees
  }

  static constexpr void store_tiles(M& machine,
                                    const auto& problem,
                                    const Storage& smem,
                                    const auto& tiles) {
    store_tiles_by(machine, problem, smem, tiles, typename Parts::Function{});
  }

  /// Where the boxes of the warp's warpgroup begin, or, `more` warpgroups on, another's.
  static constexpr std::uint32_t share_of(const M& machine,
                                          std::uint32_t boxes,
                                          std::uint32_t more) {
    if constexpr (Parts::kWarpgroups == 1) {
      return boxes * more;
    } else {
      return boxes * (machine.warp_index() / kWarpsPerWarpgroup + more) / Parts::kWarpgroups;
    }
  }
  /// The same with a `function` of the sum that holds values of the launch.
  template <class By = Steps>
  static constexpr void store_tiles_by(M& machine,
                                       const auto& problem,
                                       const Storage& smem,
                                       const auto& tiles,
                                       const auto& function) {
    using Warp = EpilogueWarp<M, Accum, decltype(Storage::tmem)>;
    auto warp = Warp::create(machine, smem.accum, smem.tmem);  // waits hand-over
    auto writer = typename Steps::Writer{machine, smem.out};
    auto registers = By::registers(machine, problem.extents);  // rows of one box, fp32
    const std::uint32_t columns = Parts::kTransposedD
                                      ? smem.out.first.rows / smem.out.boxes_in_buffer
                                      : smem.out.first.columns;
    const std::uint32_t boxes = problem.extents.accum_columns() / columns;  // of a lane's columns
    const std::uint32_t first = share_of(machine, boxes, 0);
    const std::uint32_t last = share_of(machine, boxes, 1) - 1;
    for (const Tile tile : tiles) {
      auto accum = warp.acquire_epilogue_linear();  // waits accum.full
      for (std::uint32_t box = first; box < last; ++box) {
        registers.load(accum, box * columns, columns);
        registers.apply(function, columns);
        By::template store<By>(registers, writer, problem, tile, box, boxes);
      }
      registers.load(accum, last * columns, columns);
      std::move(accum).release();  // arrives on the leader's accum.empty
      registers.apply(function, columns);
      By::template store<By>(registers, writer, problem, tile, last, boxes);
    }
    By::drain(machine, writer);  // the stores are complete
    std::move(warp).release();   // arrives on tmem.done of both CTAs
  }
};

/// What the scenarios of either group, and of every choice of parts, share.
template <CtaGroup kGroup, class Parts>
struct GemmClusterOf {
  static constexpr std::uint32_t kCtas = ctas_in(kGroup);
  static constexpr std::uint32_t kSize = kBytesOf<typename Parts::A>;
  static constexpr std::uint32_t kTileK = kWidestTileK<Parts>;
  /// Single CTAs leave room in an SM's tensor memory for one of another cluster: clusters that wait
  /// for each other's columns, each in another SM, would wait for good.
  static constexpr std::uint32_t kTileN = 128 * kCtas;
  /// Of one byte a panel of an MN-major B is as wide as a CTA's tile: it is brought whole.
  static constexpr std::uint32_t kClusterM =
      kCtas == 2 || Parts::kMajorB == Major::kK || kSize != 1 ? 2 : 1;
  using Extents = GemmClusterExtents<kGroup>;
  using StaticExtents =
      GemmClusterExtents<kGroup, GemmExtents<128 * kCtas, kTileN, kTileK, 4, 2>, kClusterM, 1>;
  template <Machine M, class Extents>
  using Kernel = Gemm2smKernel<M, Extents, Parts>;

  static std::span<const Parameter> parameters() {
    static constexpr Parameter kParameters[] = {
        {"m", "rows of A and D", 512, 1, 1 << 20, "tile_m"},
        {"n", "rows of B, columns of D", 512, 1, 1 << 20, "tile_n"},
        {"k", "columns of A and B", 16 * kTileK, 1, 1 << 20, "tile_k"},
        {"tile_m", "rows of an MMA's tile of D", 128 * kCtas, 64, 128 * kCtas},
        {"tile_n", "columns of an MMA's tile of D", kTileN, 8, 256},
        {"tile_k", "columns of A and B in one stage", kTileK, kTileK / 4, kTileK},
        {"stages", "stages of the input ring", 4, 1, 64},
        {"accum_stages", "accumulators in tensor memory", 2, 1, 64},
        {"cluster_m", "CTAs of a cluster along M", kClusterM, kCtas, 16},
        {"cluster_n", "CTAs of a cluster along N", 1, 1, 8},
        {"clusters", "clusters that share the tiles; 0: one for each", 0, 0, 1 << 16},
    };
    return kParameters;
  }
  static Extents extents(const ParameterSet& p) {
    return {GemmOf<Parts>::extents(p), p.u32("cluster_m"), p.u32("cluster_n")};
  }
  static Workload workload(const ParameterSet& p) {
    return workload_of(p, extents(p), p.u32("clusters"));
  }
  /// `clusters` of them; 0: one for each tile.
  static Workload workload_of(const ParameterSet& p, const Extents& e, std::uint32_t clusters) {
    using A = typename Parts::A;
    using B = typename Parts::B;
    using D = typename Parts::D;
    const auto [m, n, k] = std::array{p.u32("m"), p.u32("n"), p.u32("k")};
    const ClusterShape cluster = e.cluster();
    const ResultBoxes box = ResultBoxes::of<Parts>(e, e.accum_columns());
    check_mma_shape(e.tile_m, e.tile_n, cluster.group, kind_of(Parts::A::kType));
    check_tile_k(e.tile_k, kSize);
    check_result<Parts>(e, box, m);
    check_cluster(cluster, e.cta_m(), e.cta_n(), e.tile_k * kSize);
    check_tmem_columns(e.accum_stages, e.accum_columns());
    check_stages_fit<Gemm2smStorage<Extents, Parts>>(e);
    const std::uint32_t slice_a = e.cta_m() / cluster.slice(Operand::kA, 0).count;
    const std::uint32_t slice_b = e.cta_n() / cluster.slice(Operand::kB, 0).count;
    if constexpr (std::is_same_v<typename Parts::Filled, TmaBytes>) {
      check_operand<A, Parts::kMajorA>("m", m, k, slice_a);
      check_operand<B, Parts::kMajorB>("n", n, k, slice_b);
    }
    const TileGrid tiles = TileGrid::covering(m, n, e.cta_m(), e.tile_n).in_clusters(cluster);
    return {.tensors = {operand_matrix<A, Parts::kMajorA>("a", m, k),
                        operand_matrix<B, Parts::kMajorB>("b", n, k),
                        result_matrix<Parts>(m, n)},
            .maps = {operand_map<A, Parts::kMajorA>(0, slice_a, e.tile_k),
                     operand_map<B, Parts::kMajorB>(1, slice_b, e.tile_k),
                     tile_map<D>(2, box.stored_rows, box.columns)},
            .clusters = tiles.ctas(clusters),
            .cluster_size = cluster.ctas(),
            .registers_per_thread = Parts::kThread.of_fixed(kCtas),
            .flops = std::uint64_t{2} * m * n * k};
  }
  static void reference(const ParameterSet& p, std::span<HostTensor> tensors) {
    GemmOf<Parts>::reference(p, tensors);
  }
};

struct Gemm2sm : GemmClusterOf<CtaGroup::kTwo, GemmParts> {
  static constexpr ScenarioInfo kInfo{
      "gemm_2sm", ScenarioKind::kClean, "persistent GEMM by pairs of CTAs, multicast in clusters"};
};

}  // namespace warptwin::scenarios
