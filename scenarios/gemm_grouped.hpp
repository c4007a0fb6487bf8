/// Scenario: D_g = A_g * B_g^T for groups of different M, some of them empty (mixture of experts):
/// the tiles of all groups in one row, a scheduler warp that tells the others which to take.
///
/// Barrier          Arrivals per phase                 Bytes   Completion means
/// input.full[s]    1   load, elected lane             A + B   stage s may be read
/// input.empty[s]   1   mma, tcgen05.commit            -       stage s may be overwritten
/// accum.full[a]    1   mma, tcgen05.commit            -       accumulator a is complete
/// accum.empty[a]   128 epilogue, every lane           -       accumulator a may be overwritten
/// tmem.done[0]     128 epilogue, every lane           -       tensor memory may be freed
/// work.full[w]     1   scheduler, elected lane        -       slot w names a tile, or none
/// work.empty[w]    6   load, elected lane of a warp   -       slot w may be overwritten
///
/// With cta_group=2 a pair of CTAs computes a tile, and the counts are those of gemm_2sm. In a
/// larger cluster CTAs share copies of A and of B, and compute neighbouring tiles of a group. Each
/// CTA has a scheduler and slots of its own: all of a cluster find the same tiles. The peer's MMA
/// warp takes them, too, and computes nothing: a slot is free when every warp has read it.
///
/// A slot is freed by one lane of each warp that reads it: of load, of mma and of the four epilogue
/// warps. A CTA's first tile is its index: everybody finds it by himself, and the scheduler
/// publishes from the second on. Where there is no tile everybody stops: a CTA whose first tile is
/// none, as there are fewer tiles than CTAs, never touches the ring.
///
/// Each group has tensor maps of its own, over its rows alone: of a tile that reaches beyond them,
/// zeros are read and nothing is written. An empty group has no tiles, and its maps are not used.
///
/// Expected: clean in every interleaving, for all sizes of groups, whichever are empty, all of them
///           too, any cluster and number of CTAs, of k steps, and every depth of the rings.

#pragma once

#include <algorithm>

#include "common/kernel/parameter_table.hpp"

#include "scenarios/gemm_2sm.hpp"
#include "scenarios/gemm_group_tiles.hpp"

namespace warptwin::scenarios {

inline constexpr RoleTable kGemmGroupedRoles{RoleWarps{Role::kEpilogue, 4},
                                             RoleWarps{Role::kMma, 1},
                                             RoleWarps{Role::kLoad, 1},
                                             RoleWarps{Role::kScheduler, 1}};

/// `tile_m` by `tile_n` is the shape of an MMA, of a CTA or a pair.
template <class Tiles = GemmExtents<>, std::uint32_t kGroup = kDynamic>
struct GemmGroupedExtents : Tiles {
  [[no_unique_address]] Extent<kGroup> cta_group;

  constexpr std::uint32_t cta_m() const { return this->tile_m / cta_group; }
  constexpr std::uint32_t cta_n() const { return this->tile_n / cta_group; }
  constexpr ClusterShape cluster() const {
    return {cta_group, 1, cta_group == 2 ? CtaGroup::kTwo : CtaGroup::kOne};
  }
  constexpr std::uint32_t column_parts() const { return 1; }  // a row of D in every lane
  constexpr std::uint32_t accum_columns() const { return this->tile_n; }
};

/// The same in clusters of several MMAs.
template <class Tiles = GemmExtents<>,
          std::uint32_t kGroup = kDynamic,
          std::uint32_t kClusterM = kDynamic,
          std::uint32_t kClusterN = kDynamic>
struct GemmGroupedClusterExtents : GemmGroupedExtents<Tiles, kGroup> {
  [[no_unique_address]] Extent<kClusterM> cluster_m;
  [[no_unique_address]] Extent<kClusterN> cluster_n;

  constexpr ClusterShape cluster() const {
    return {cluster_m, cluster_n, this->cta_group == 2 ? CtaGroup::kTwo : CtaGroup::kOne};
  }
};

/// What gemm_2sm has, and the slots that name tiles.
template <class Extents, class Parts = GemmParts>
struct GemmGroupedStorage : Gemm2smStorage<Extents, Parts> {
  using Base = Gemm2smStorage<Extents, Parts>;

  constexpr GemmGroupedStorage(auto& layout, const Extents& e)
      : Base{layout, e}, work{layout, "work", kGemmGroupedRoles, kWorkStages, kWorkBytes} {}
  constexpr void init(Machine auto& machine) const {
    Base::init(machine);
    work.init(machine);
  }

  WorkRingStorage work;
};

/// `TilesOf` tell a role its tiles, by what is in `StorageOf`; `ProblemOf` has their tensor maps.
template <Machine M,
          class Extents,
          template <Machine, Role> class TilesOf = GroupTiles,
          class StorageOf = GemmGroupedStorage<Extents>,
          class ProblemOf = GemmGroupedProblem<M, Extents>>
struct GemmGroupedKernel {
  using Storage = StorageOf;
  using Input = PipelineOf<M, typename Storage::Input>;
  using Accum = PipelineOf<M, typename Storage::Accum>;
  using Problem = ProblemOf;
  static constexpr auto kRoles = kGemmGroupedRoles;

  static Problem problem(const ParameterSet& p,
                         const Extents& e,
                         std::span<const typename M::TensorMap> maps,
                         std::span<const GlobalAddress> tensors) {
    Problem problem{};
    problem.set(p, e, maps, tensors);
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
    const ClusterShape& cluster = smem.input.cluster;
    const std::uint32_t part = cluster.place_in_group(machine.cta_rank());
    for (auto at = tiles<Role::kLoad>(machine, problem, smem); at.exists(); at.next()) {
      const auto& b = problem.b_of(at);
      const Tile tile = at->of_rank(cluster, machine.cta_rank());
      for (std::uint32_t k = 0; k < problem.k_tiles; ++k) {
        auto stage = input.acquire_stage();               // waits input.empty; the leader arms full
        problem.load_a(machine, stage, at, {tile.m, k});  // (cta_m, tile_k)
        stage.load(b, {tile.n * cluster.group_ctas() + part, k}, stage.payload().b_tile());
        std::move(stage).release();
      }
      if constexpr (requires { at.end_loads(input); }) {
        at.end_loads(input);
      }
    }
    input.drain();  // no commit is on its way to input.empty any more
  }

  static constexpr void mma(M& machine, const Problem& problem, const Storage& smem) {
    auto warp = MmaWarp<M, Accum>::create(machine, smem.accum, smem.tmem);  // allocates, hands over
    auto input = Input{machine, smem.input}.consumer();
    for (auto at = tiles<Role::kMma>(machine, problem, smem); at.exists(); at.next()) {
      if (!warp.is_leader()) {
        continue;  // the leader's MMAs are both CTAs'
      }
      auto accum = warp.acquire_mma_linear();  // waits accum.empty
      for (std::uint32_t k = 0; k < problem.k_tiles; ++k) {
        auto stage = input.acquire_stage();  // waits input.full
        accum.multiply(stage.payload(), k == 0 ? Accumulate::kNo : Accumulate::kYes);
        std::move(stage).release();  // commits to input.empty
      }
      std::move(accum).release();  // commits to accum.full
    }
    std::move(warp).release();  // waits tmem.done, frees
  }

  static constexpr void epilogue(M& machine, const Problem& problem, const Storage& smem) {
    auto warp = EpilogueWarp<M, Accum>::create(machine, smem.accum, smem.tmem);  // waits hand-over
    auto writer = TileWriter<M, typename Storage::D>{machine, smem.out};
    auto registers = AccumTile<M>{machine};  // this warp's rows of one box, fp32
    constexpr typename Storage::Function function{};
    const std::uint32_t columns = smem.out.first.columns;
    const std::uint32_t boxes = problem.extents.tile_n / columns;
    for (auto at = tiles<Role::kEpilogue>(machine, problem, smem); at.exists(); at.next()) {
      const auto& d = problem.d_of(at);
      const Tile tile = at->of_rank(smem.accum.cluster, machine.cta_rank());
      auto accum = warp.acquire_epilogue_linear();  // waits accum.full
      for (std::uint32_t box = 0; box + 1 < boxes; ++box) {
        registers.load(accum, box * columns, columns);
        registers.apply(function, columns);
        registers.store(writer.acquire());  // (cta_m, box_columns) of D, written by all warps
        writer.store(d, {tile.m, tile.n * boxes + box});
      }
      registers.load(accum, (boxes - 1) * columns, columns);
      std::move(accum).release();  // arrives on the leader's accum.empty
      registers.apply(function, columns);
      registers.store(writer.acquire());
      writer.store(d, {tile.m, tile.n * boxes + boxes - 1});
      problem.end_tile(writer);
    }
    writer.drain();             // the stores are complete
    std::move(warp).release();  // arrives on tmem.done
  }
};

/// What the scenarios of every choice of parts share.
template <class Parts>
struct GemmGroupedOf {
  static constexpr std::uint32_t kSize = kBytesOf<typename Parts::A>;
  static constexpr std::uint32_t kTileK = kWidestTileK<Parts>;
  using Extents = GemmGroupedClusterExtents<>;
  using StaticExtents = GemmGroupedClusterExtents<GemmExtents<128, 128, kTileK, 4, 2>, 1, 1, 1>;
  template <Machine M, class Extents>
  using Kernel = GemmGroupedKernel<M, Extents, GroupTiles, GemmGroupedStorage<Extents, Parts>>;

  static std::span<const Parameter> parameters() {
    static const auto kParameters = extended(
        shapes(), {{"ctas", "clusters that share the tiles; 0: one for each", 3, 0, 1 << 16}});
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
        {"n", "rows of each B, columns of each D", 256, 1, 1 << 20},
        {"k", "columns of A and B", 4 * kTileK, 1, 1 << 20, "tile_k"},
        {"tile_m", "rows of an MMA's tile of D", 128, 64, 256},
        {"tile_n", "columns of an MMA's tile of D", 128, 8, 256},
        {"tile_k", "columns of A and B in one stage", kTileK, kTileK / 4, kTileK},
        {"stages", "stages of the input ring", 4, 1, 64},
        {"accum_stages", "accumulators in tensor memory", 2, 1, 64},
        {"cta_group", "CTAs that share an MMA", 1, 1, 2},
        {"cluster_m", "CTAs of a cluster along M; 0: those of an MMA", 0, 0, 16},
        {"cluster_n", "CTAs of a cluster along N", 1, 1, 8},
    };
    return kParameters;
  }
  static Extents extents(const ParameterSet& p) {
    return {{Gemm::extents(p), p.u32("cta_group")}, cluster_m(p), p.u32("cluster_n")};
  }
  static Workload workload(const ParameterSet& p) {
    check_stages_fit<GemmGroupedStorage<Extents, Parts>>(extents(p));
    return workload_of(p, extents(p), p.u32("ctas"));
  }
  /// `clusters` of them; 0: one for each tile.
  static Workload workload_of(const ParameterSet& p, const Extents& e, std::uint32_t clusters) {
    using A = typename Parts::A;
    using B = typename Parts::B;
    using D = typename Parts::D;
    static constexpr const char* kNames[kGroups][3] = {
        {"a0", "b0", "d0"}, {"a1", "b1", "d1"}, {"a2", "b2", "d2"}, {"a3", "b3", "d3"}};
    const auto [n, k] = std::array{p.u32("n"), p.u32("k")};
    check_row_pitch("k", k, kSize);
    check_tile_shape(e.tile_m, e.tile_n, e.tile_k, kSize, e.cluster().group);
    const ClusterShape cluster = e.cluster();
    check_cluster(cluster, e.cta_m(), e.cta_n(), e.tile_k * kSize);
    check_tmem_columns(e.accum_stages, e.tile_n);
    const std::uint32_t box = box_columns<D>(e.tile_n);
    Workload workload;
    workload.registers_per_thread = 80;
    std::uint32_t tiles = 0;
    for (std::uint32_t group = 0; group < kGroups; ++group) {
      const auto& [a, b, d] = kNames[group];
      const std::uint32_t m = rows_of_group(p, group);
      // A tensor map needs a row: an empty group has one that nobody touches.
      const auto use = [m](TensorUse of) { return m == 0 ? TensorUse::kScratch : of; };
      const std::uint32_t first = 3 * group;
      const std::uint32_t rows = std::max(m, 1U);
      workload.tensors.push_back(matrix(a, use(TensorUse::kInput), rows, k, A::kType));
      workload.tensors.push_back(matrix(b, use(TensorUse::kInput), n, k, B::kType));
      workload.tensors.push_back(matrix(d, use(TensorUse::kOutput), rows, n, D::kType));
      const std::uint32_t slice_a = e.cta_m() / cluster.slice(Operand::kA, 0).count;
      const std::uint32_t slice_b = e.cta_n() / cluster.slice(Operand::kB, 0).count;
      workload.maps.push_back(tile_map<A>(first, slice_a, e.tile_k));
      workload.maps.push_back(tile_map<B>(first + 1, slice_b, e.tile_k));
      workload.maps.push_back(tile_map<D>(first + 2, e.cta_m(), box));
      workload.flops += std::uint64_t{2} * m * n * k;
      tiles += TileGrid::covering(m, n, e.cta_m(), e.tile_n).in_clusters(cluster).count();
    }
    workload.cluster_size = cluster.ctas();
    workload.clusters = clusters == 0 ? std::max(tiles, 1U) : clusters;
    return workload;
  }
  static void reference(const ParameterSet&, std::span<HostTensor> tensors) {
    for (std::uint32_t group = 0; group < kGroups; ++group) {
      if (tensors[3 * group + 2].spec.use == TensorUse::kOutput) {
        multiply_reference(tensors[3 * group], tensors[3 * group + 1], tensors[3 * group + 2]);
        apply_function<Parts>(tensors[3 * group + 2]);
      }
    }
  }
};

struct GemmGrouped : GemmGroupedOf<GemmParts> {
  static constexpr ScenarioInfo kInfo{"gemm_grouped",
                                      ScenarioKind::kClean,
                                      "persistent GEMMs of groups, tiles by a scheduler warp"};
};

}  // namespace warptwin::scenarios
