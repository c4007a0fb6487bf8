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
/// With cta_group=2 a pair of CTAs computes a tile, and the counts are those of gemm_2sm. Each CTA
/// has a scheduler and slots of its own: both find the same tiles. The peer's MMA warp takes them,
/// too, and computes nothing: a slot is free when every warp has read it.
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
///           too, any number of CTAs, of k steps, and every depth of the rings.

#pragma once

#include <algorithm>

#include "common/kernel/parameter_table.hpp"
#include "common/pipeline/producer_consumer_pipeline.hpp"

#include "scenarios/gemm_2sm.hpp"

namespace warptwin::scenarios {

inline constexpr std::uint32_t kGroups = 4;
inline constexpr std::uint32_t kWorkStages = 2;
inline constexpr std::uint32_t kWorkBytes = 32;  // of a slot

inline constexpr RoleTable kGemmGroupedRoles{RoleWarps{Role::kEpilogue, 4},
                                             RoleWarps{Role::kMma, 1},
                                             RoleWarps{Role::kLoad, 1},
                                             RoleWarps{Role::kScheduler, 1}};

using WorkRingStorage = RingStorage<From<Role::kScheduler, ElectedLane>,
                                    To<Role::kLoad, ElectedLane>,
                                    To<Role::kMma, ElectedLane>,
                                    To<Role::kEpilogue, ElectedLane>>;

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

/// What gemm_2sm has, and the slots that name tiles.
template <class Extents>
struct GemmGroupedStorage : Gemm2smStorage<Extents> {
  constexpr GemmGroupedStorage(auto& layout, const Extents& e)
      : Gemm2smStorage<Extents>{layout, e},
        work{layout, "work", kGemmGroupedRoles, kWorkStages, kWorkBytes} {}
  constexpr void init(Machine auto& machine) const {
    Gemm2smStorage<Extents>::init(machine);
    work.init(machine);
  }

  WorkRingStorage work;
};

/// Rows of A and D in a group. Host code.
inline std::uint32_t rows_of_group(const ParameterSet& p, std::uint32_t group) {
  constexpr const char* kRows[kGroups] = {"m0", "m1", "m2", "m3"};
  return (p.u32("work") >> group & 1U) != 0 ? p.u32(kRows[group]) : 0;
}

/// A tile of a group, or none.
struct GroupTile {
  std::uint32_t group = kGroups;
  Tile tile;

  constexpr bool exists() const { return group < kGroups; }
};

template <Machine M, class Extents>
struct GemmGroupedProblem {
  typename M::TensorMap a[kGroups], b[kGroups], d[kGroups];  // boxes as gemm's
  [[no_unique_address]] Extents extents;
  std::uint32_t tiles_m[kGroups];  // 0 of an empty group
  std::uint32_t tiles_n, k_tiles;

  /// Of every group's `maps`: A's and B's first, D's last. Host code.
  void set(const ParameterSet& p, const Extents& e, std::span<const typename M::TensorMap> maps) {
    const std::size_t each = maps.size() / kGroups;
    extents = e;
    for (std::uint32_t group = 0; group < kGroups; ++group) {
      const auto own = maps.subspan(each * group, each);
      a[group] = own[0];
      b[group] = own[1];
      d[group] = own.back();
      tiles_m[group] = ceil_div(rows_of_group(p, group), e.tile_m);
    }
    tiles_n = ceil_div(p.u32("n"), e.tile_n);
    k_tiles = ceil_div(p.u32("k"), e.tile_k);
  }
  /// Tile `index` of all groups' tiles in a row.
  constexpr GroupTile tile(std::uint32_t index) const {
    for (std::uint32_t group = 0; group < kGroups; ++group) {
      const std::uint32_t count = tiles_m[group] * tiles_n;
      if (index < count) {
        return {group, {index % tiles_m[group], index / tiles_m[group]}};
      }
      index -= count;
    }
    return {};
  }
};

/// The tiles of a CTA, as one of its warps is told: it knows the first, the ring brings the others.
template <Machine M, Role kWho, class Storage>
class GroupTilesOf {
 public:
  using Ring = PipelineOf<M, Storage>;

  constexpr GroupTilesOf(M& machine, const auto& smem, const auto& problem)
      : machine_{&machine},
        ring_{machine, smem.work},
        tile_{problem.tile(machine.cluster_index())} {}

  constexpr bool exists() const { return tile_.exists(); }
  constexpr const GroupTile& operator*() const { return tile_; }
  constexpr const GroupTile* operator->() const { return &tile_; }
  /// Participants: the whole warp. Blocks: until the scheduler has published the next tile.
  constexpr void next(SourceSite site = SourceSite::current()) {
    auto slot = ring_.template acquire_consumer<To<kWho, ElectedLane>>(site);  // waits work.full
    tile_ = read_tile(*machine_, ring_.storage().tile(slot.index()), site);
    std::move(slot).release(site);  // one lane arrives on work.empty
  }

 private:
  static constexpr GroupTile read_tile(M& machine, SharedAddress slot, SourceSite site) {
    const std::uint32_t group = machine.ld_shared_u32(slot, site) - 1;
    const std::uint32_t m = machine.ld_shared_u32(slot + 4, site);
    return {group, {m, machine.ld_shared_u32(slot + 8, site)}};
  }

  M* machine_;
  Ring ring_;
  GroupTile tile_;
};
template <Machine M, Role kWho>
using GroupTiles = GroupTilesOf<M, kWho, WorkRingStorage>;

/// Writes a tile, or that there is none, in the lane that will arrive.
///
/// Participants: the whole warp. Blocks: never.
template <Machine M>
constexpr void write_tile(M& machine, SharedAddress slot, const GroupTile& tile) {
  machine.elect_one([&] {
    machine.st_shared_u32(slot, tile.group + 1);  // a slot of zeros names no tile
    machine.st_shared_u32(slot + 4, tile.tile.m);
    machine.st_shared_u32(slot + 8, tile.tile.n);
  });
}

/// Publishes the tiles of this CTA, or pair, from the second on, and then that there is none.
///
/// Participants: the scheduler warp. Blocks: while the ring is full.
template <Machine M, class Problem, class Storage>
constexpr void publish_tiles(M& machine, const Problem& problem, const Storage& work) {
  auto ring = PipelineOf<M, Storage>{machine, work};
  std::uint32_t index = machine.cluster_index();
  while (problem.tile(index).exists()) {
    index += machine.cluster_count();
    auto slot = ring.acquire_producer();  // waits work.empty
    write_tile(machine, work.tile(slot.index()), problem.tile(index));
    std::move(slot).release();  // arrives on work.full
  }
}

/// `TilesOf` tell a role its tiles, by what is in `StorageOf`.
template <Machine M,
          class Extents,
          template <Machine, Role> class TilesOf = GroupTiles,
          class StorageOf = GemmGroupedStorage<Extents>>
struct GemmGroupedKernel {
  using Storage = StorageOf;
  using Input = PipelineOf<M, typename Storage::Input>;
  using Accum = PipelineOf<M, typename Storage::Accum>;
  using Problem = GemmGroupedProblem<M, Extents>;
  static constexpr auto kRoles = kGemmGroupedRoles;

  static Problem problem(const ParameterSet& p,
                         const Extents& e,
                         std::span<const typename M::TensorMap> maps,
                         std::span<const GlobalAddress>) {
    Problem problem{};
    problem.set(p, e, maps);
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
    const std::uint32_t ctas = smem.input.cluster.group_ctas();
    const std::uint32_t part = smem.input.cluster.place_in_group(machine.cta_rank());
    for (auto at = tiles<Role::kLoad>(machine, problem, smem); at.exists(); at.next()) {
      const auto& a = problem.a[at->group];
      const auto& b = problem.b[at->group];
      for (std::uint32_t k = 0; k < problem.k_tiles; ++k) {
        auto stage = input.acquire_stage();  // waits input.empty; the leader arms full
        stage.load(a, {at->tile.m * ctas + part, k}, stage.payload().a_tile());  // (cta_m, tile_k)
        stage.load(b, {at->tile.n * ctas + part, k}, stage.payload().b_tile());  // (cta_n, tile_k)
        std::move(stage).release();
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
    auto writer = TileWriter<M, bf16>{machine, smem.out};
    auto registers = AccumTile<M>{machine};  // this warp's rows of one box, fp32
    const std::uint32_t columns = smem.out.first.columns;
    const std::uint32_t boxes = problem.extents.tile_n / columns;
    const std::uint32_t ctas = smem.accum.cluster.group_ctas();
    const std::uint32_t part = smem.accum.cluster.place_in_group(machine.cta_rank());
    for (auto at = tiles<Role::kEpilogue>(machine, problem, smem); at.exists(); at.next()) {
      const auto& d = problem.d[at->group];
      const std::uint32_t row = at->tile.m * ctas + part;
      auto accum = warp.acquire_epilogue_linear();  // waits accum.full
      for (std::uint32_t box = 0; box + 1 < boxes; ++box) {
        registers.load(accum, box * columns, columns);
        registers.store(writer.acquire());  // (cta_m, box_columns) bf16, written by all warps
        writer.store(d, {row, at->tile.n * boxes + box});
      }
      registers.load(accum, (boxes - 1) * columns, columns);
      std::move(accum).release();  // arrives on the leader's accum.empty
      registers.store(writer.acquire());
      writer.store(d, {row, at->tile.n * boxes + boxes - 1});
    }
    writer.drain();             // the stores are complete
    std::move(warp).release();  // arrives on tmem.done
  }
};

struct GemmGrouped {
  static constexpr ScenarioInfo kInfo{"gemm_grouped",
                                      ScenarioKind::kClean,
                                      "persistent GEMMs of groups, tiles by a scheduler warp"};
  using StaticExtents = GemmGroupedExtents<GemmExtents<128, 128, 64, 4, 2>, 1>;
  template <Machine M, class Extents>
  using Kernel = GemmGroupedKernel<M, Extents>;

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
        {"n", "rows of each B, columns of each D", 256, 1, 1 << 20},
        {"k", "columns of A and B", 256, 1, 1 << 20, "tile_k"},
        {"tile_m", "rows of an MMA's tile of D", 128, 64, 256},
        {"tile_n", "columns of an MMA's tile of D", 128, 8, 256},
        {"tile_k", "columns of A and B in one stage", 64, 16, 64},
        {"stages", "stages of the input ring", 4, 1, 64},
        {"accum_stages", "accumulators in tensor memory", 2, 1, 64},
        {"cta_group", "CTAs that share an MMA", 1, 1, 2},
    };
    return kParameters;
  }
  static GemmGroupedExtents<> extents(const ParameterSet& p) {
    return {Gemm::extents(p), p.u32("cta_group")};
  }
  static Workload workload(const ParameterSet& p) {
    check_stages_fit<GemmGroupedStorage<GemmGroupedExtents<>>>(extents(p));
    return workload_of(p, extents(p), p.u32("ctas"));
  }
  /// `clusters` of them; 0: one for each tile.
  static Workload workload_of(const ParameterSet& p,
                              const GemmGroupedExtents<>& e,
                              std::uint32_t clusters) {
    static constexpr const char* kNames[kGroups][3] = {
        {"a0", "b0", "d0"}, {"a1", "b1", "d1"}, {"a2", "b2", "d2"}, {"a3", "b3", "d3"}};
    const auto [n, k] = std::array{p.u32("n"), p.u32("k")};
    check_row_pitch("k", k, sizeof(bf16::Storage));
    check_tile_shape(e.tile_m, e.tile_n, e.tile_k, sizeof(bf16::Storage), e.cluster().group);
    check_cluster(e.cluster(), e.cta_m(), e.cta_n(), e.tile_k * sizeof(bf16::Storage));
    check_tmem_columns(e.accum_stages, e.tile_n);
    const std::uint32_t box = box_columns<bf16>(e.tile_n);
    Workload workload;
    workload.registers_per_thread = 80;
    std::uint32_t tiles = 0;
    for (std::uint32_t group = 0; group < kGroups; ++group) {
      const auto& [a, b, d] = kNames[group];
      const std::uint32_t m = rows_of_group(p, group);
      // A tensor map needs a row: an empty group has one that nobody touches.
      const auto use = [m](TensorUse of) { return m == 0 ? TensorUse::kScratch : of; };
      const std::uint32_t first = 3 * group;
      workload.tensors.push_back(matrix(a, use(TensorUse::kInput), std::max(m, 1U), k));
      workload.tensors.push_back(matrix(b, use(TensorUse::kInput), n, k));
      workload.tensors.push_back(matrix(d, use(TensorUse::kOutput), std::max(m, 1U), n));
      workload.maps.push_back({first, e.cta_m(), e.tile_k, swizzle_of(e.tile_k * 2)});
      workload.maps.push_back({first + 1, e.cta_n(), e.tile_k, swizzle_of(e.tile_k * 2)});
      workload.maps.push_back({first + 2, e.cta_m(), box, swizzle_of(box * 2)});
      workload.flops += std::uint64_t{2} * m * n * k;
      tiles += TileGrid::covering(m, n, e.tile_m, e.tile_n).count();
    }
    workload.cluster_size = e.cluster().ctas();
    workload.clusters = clusters == 0 ? std::max(tiles, 1U) : clusters;
    return workload;
  }
  static void reference(const ParameterSet&, std::span<HostTensor> tensors) {
    for (std::uint32_t group = 0; group < kGroups; ++group) {
      if (tensors[3 * group + 2].spec.use == TensorUse::kOutput) {
        multiply_reference(tensors[3 * group], tensors[3 * group + 1], tensors[3 * group + 2]);
      }
    }
  }
};

}  // namespace warptwin::scenarios
