/// Scenario: D = A * B^T by pairs of CTAs, as in gemm_2sm; one cluster for each of its tiles is
/// launched, and a cluster that has done its own claims those that have not begun (cluster launch
/// control). A scheduler warp in CTA 0 of the cluster asks; every warp of it reads the response.
/// gemm_clc is the same text with MMAs of one CTA.
///
/// Barrier           Arrivals per phase                    Bytes   Completion means
/// input.full[s]     1   load, elected lane                both    stage s may be read, in both
/// input.empty[s]    1   mma, tcgen05.commit               -       stage s may be overwritten
/// accum.full[a]     1   mma, tcgen05.commit               -       accumulator a is complete
/// accum.empty[a]    256 epilogue, every lane              -       accumulator a may be overwritten
/// tmem.done[0]      256 epilogue, every lane              -       tensor memory may be freed
/// tmem.peer[0]      1   mma, elected lane                 -       the peer has allocated
/// clc.full[c]       1   scheduler, elected lane           16      response c may be read
/// clc.empty[c]      416 scheduler, every lane, and all others     -   it may be overwritten
/// throttle.full[c]  32  load, every lane                  -       the next tile has begun
/// throttle.empty[c] 32  scheduler, every lane             -       the scheduler knows
///
/// The first five are gemm_2sm's. A response goes to every CTA, and its slot is free when all lanes
/// of load, MMA and epilogue of all CTAs, and the scheduler's, have read it: they arrive in CTA 0,
/// whose scheduler waits. The failing response is the last, for all of them. The load warp of CTA 0
/// says when it begins a tile; before that the scheduler does not ask for the one after it.
///
/// Expected: clean in every interleaving, for every depth of the rings, any cluster of pairs, any
///           number of tiles that a cluster claims, and for edges that cut a tile.

#pragma once

#include <initializer_list>
#include <span>
#include <vector>

#include "common/kernel/parameter_table.hpp"
#include "common/kernel/work_iterator.hpp"
#include "common/tile/clc_pipeline.hpp"

#include "scenarios/gemm_2sm.hpp"

namespace warptwin::scenarios {

template <class Shape = Gemm2smExtents<>, std::uint32_t kClcStages = kDynamic>
struct GemmPersistentExtents : Shape {
  [[no_unique_address]] Extent<kClcStages> clc_stages;  // 0: a cluster has its own tile alone
};

/// Warps of a role beside epilogue, scheduler, load and MMA: a row of tensor memory is a lane of a
/// warpgroup.
constexpr std::uint32_t warps_of_more(Role role) {
  return role == Role::kTransform ? kWarpsPerWarpgroup : 1;
}

/// `kMore`: roles that go over the tiles, too.
template <std::uint32_t kWarpgroups, std::uint32_t kLoadWarps, Role... kMore>  // of the epilogue
inline constexpr RoleTable kGemmPersistentRolesWith{
    RoleWarps{Role::kEpilogue, kWarpsPerWarpgroup* kWarpgroups},
    RoleWarps{Role::kScheduler, 1},
    RoleWarps{Role::kLoad, kLoadWarps},
    RoleWarps{Role::kMma, 1},
    RoleWarps{kMore, warps_of_more(kMore)}...};
template <Role... kMore>
inline constexpr RoleTable kGemmPersistentRoles = kGemmPersistentRolesWith<1, 1, kMore...>;

/// Warpgroups of the epilogue of a kernel with such a storage.
template <class Storage>
constexpr std::uint32_t warpgroups_of() {
  if constexpr (requires { Storage::kWarpgroups; }) {
    return Storage::kWarpgroups;
  } else {
    return 1;
  }
}

/// And warps that fill its stages.
template <class Storage>
constexpr std::uint32_t load_warps_of() {
  if constexpr (requires { Storage::kLoadWarps; }) {
    return Storage::kLoadWarps;
  } else {
    return 1;
  }
}

/// The roles of a kernel with such a storage, over tiles that it claims.
template <class Storage, Role... kMore>
inline constexpr auto kClaimingRoles =
    kGemmPersistentRolesWith<warpgroups_of<Storage>(), load_warps_of<Storage>(), kMore...>;

/// What a kernel of fixed tiles has, and the ring of responses.
template <class Extents, class Fixed, Role... kMore>
struct ClaimingStorage : Fixed {
  using Clc = ClcPipelineStorage<Role::kLoad, Role::kMma, Role::kEpilogue, kMore...>;

  constexpr ClaimingStorage(auto& layout, const Extents& e)
      : Fixed{layout, e},
        clc{layout, "clc", kClaimingRoles<Fixed, kMore...>, e.cluster(), e.clc_stages} {}
  constexpr void init(Machine auto& machine) const {
    Fixed::init(machine);
    clc.init(machine);
  }

  Clc clc;
};

/// The roles of `Fixed`, a kernel of fixed tiles, over the tiles that its clusters claim. `Fixed`
/// has a `problem` of tiles in any order, and each role over any range of tiles: `load_tiles`,
/// `multiply_tiles_of` and `store_tiles`.
template <Machine M, class Extents, class Fixed, Role... kMore>
struct ClaimingKernel : Fixed {
  using Base = Fixed;
  using Storage = ClaimingStorage<Extents, typename Base::Storage, kMore...>;
  using Input = typename Base::Input;
  using Accum = typename Base::Accum;
  using Clc = PipelineOf<M, typename Storage::Clc>;
  static constexpr auto kRoles = kClaimingRoles<Storage, kMore...>;
  struct Problem : Base::Problem {
    /// The CTA's tile of any cluster. A product of several kinds of tiles has its own.
    constexpr auto cluster_tiles(const M& machine) const {
      if constexpr (requires { this->tiles_of_rank(0U); }) {
        return this->tiles_of_rank(machine.cta_rank());
      } else {
        return ClusterTiles{this->tile_walk, machine.cta_rank()};
      }
    }
    /// The CTA's own tile, and those that its cluster claims.
    constexpr auto work(const M& machine, Clc& clc, SourceSite site = SourceSite::current()) const {
      return WorkIterator{cluster_tiles(machine), machine, clc, site};
    }
  };

  static Problem problem(const ParameterSet& p,
                         const Extents& e,
                         std::span<const typename M::TensorMap> maps,
                         std::span<const GlobalAddress> tensors) {
    const TileOrder order{static_cast<RasterOrder>(p.u32("raster")), p.u32("swizzle")};
    return {Base::problem(p, e, maps, tensors, order)};
  }

  static constexpr void scheduler(M& machine, const Problem& problem, const Storage& smem) {
    auto clc = Clc{machine, smem.clc};
    if (machine.cta_rank() != 0 || !clc.asks()) {
      return;  // to the barrier at the end of the cluster
    }
    machine.griddepcontrol_wait();
    for ([[maybe_unused]] const Tile tile : problem.work(machine, clc)) {
      clc.wait_throttle();  // the load warp has begun this tile
      clc.request();        // waits clc.empty, arms clc.full of every CTA
    }
    clc.drain();  // nobody reads a response any more
  }

  static constexpr void load(M& machine, const Problem& problem, const Storage& smem) {
    if constexpr (requires(Tile tile) { Base::prefetch(machine, problem, smem, tile); }) {
      const auto own = problem.cluster_tiles(machine).at(machine.cluster_index());
      Base::prefetch(machine, problem, smem, own);
    }
    machine.griddepcontrol_wait();  // A and B may be what a grid before this one writes
    load_claimed(machine, problem, smem);
  }
  static constexpr void load_claimed(M& machine, const Problem& problem, const Storage& smem) {
    auto clc = Clc{machine, smem.clc};
    Base::load_tiles(machine, problem, smem, problem.work(machine, clc), [&] {
      if (machine.cta_rank() == 0 && clc.asks()) {
        clc.signal_throttle();
      }
    });
  }

  static constexpr void mma(M& machine, const Problem& problem, const Storage& smem) {
    auto clc = Clc{machine, smem.clc};
    Base::multiply_tiles_of(machine, problem, smem, problem.work(machine, clc));
    machine.griddepcontrol_launch_dependents();
  }

  static constexpr void epilogue(M& machine, const Problem& problem, const Storage& smem) {
    auto clc = Clc{machine, smem.clc};
    Base::store_tiles(machine, problem, smem, problem.work(machine, clc));
  }
};

/// The same where `Fixed` has a warp that brings the epilogue a source: `load_sources` over any
/// range of tiles, for `Role::kEpilogueLoad`.
template <Machine M, class Extents, class Fixed>
struct ClaimingKernelWithSource : ClaimingKernel<M, Extents, Fixed, Role::kEpilogueLoad> {
  using Base = ClaimingKernel<M, Extents, Fixed, Role::kEpilogueLoad>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;
  using Clc = typename Base::Clc;

  static constexpr void epilogue_load(M& machine, const Problem& problem, const Storage& smem) {
    auto clc = Clc{machine, smem.clc};
    machine.griddepcontrol_wait();  // the source may be what a grid before this one writes
    Base::load_sources(machine, problem, smem, problem.work(machine, clc));
  }
};

template <class Extents, class Parts = GemmParts>
using GemmPersistentStorage = ClaimingStorage<Extents, Gemm2smStorage<Extents, Parts>>;
template <Machine M, class Extents, class Parts = GemmParts>
using GemmPersistentKernel = ClaimingKernel<M, Extents, Gemm2smKernel<M, Extents, Parts>>;

/// The parameters of a kernel of fixed tiles, `rows` in their places or behind them, and those of
/// one that claims tiles. Host code.
inline std::vector<Parameter> claiming(std::span<const Parameter> fixed,
                                       std::initializer_list<Parameter> rows) {
  return extended(
      extended(fixed, rows),
      {{"clc_stages", "responses in shared memory; 0: a cluster has its own tile alone", 2, 0, 64},
       {"raster", "way in which tiles are counted: 0 along M, 1 along N", 0, 0, 1},
       {"swizzle", "clusters' tiles along N in a strip; 0: no strips", 0, 0, 64},
       {"resident", "clusters the simulated machine has room for; 0: all its SMs", 0, 0, 1 << 16}});
}

/// What the scenarios of either group, and of every choice of parts, share.
template <CtaGroup kGroup, class Parts>
struct GemmPersistentOf : GemmClusterOf<kGroup, Parts> {
  using Base = GemmClusterOf<kGroup, Parts>;
  using Base::kCtas;
  using Base::kTileK;
  using Shape = GemmExtents<128 * kCtas, 256, kTileK, kCtas == 2 ? 6 : 4, 2>;
  using StaticExtents = GemmPersistentExtents<GemmClusterExtents<kGroup, Shape, kCtas, 1>, 2>;
  using Extents = GemmPersistentExtents<GemmClusterExtents<kGroup>>;
  template <Machine M, class Extents>
  using Kernel = GemmPersistentKernel<M, Extents, Parts>;

  static std::span<const Parameter> parameters() {
    static constexpr Parameter kParameters[] = {
        {"m", "rows of A and D", 512, 1, 1 << 20, "tile_m"},
        {"n", "rows of B, columns of D", 512, 1, 1 << 20, "tile_n"},
        {"k", "columns of A and B", 8 * kTileK, 1, 1 << 20, "tile_k"},
        {"tile_m", "rows of an MMA's tile of D", 128 * kCtas, 64, 128 * kCtas},
        {"tile_n", "columns of an MMA's tile of D", 256, 8, 256},
        {"tile_k", "columns of A and B in one stage", kTileK, kTileK / 4, kTileK},
        {"stages", "stages of the input ring", Shape{}.stages, 1, 64},
        {"accum_stages", "accumulators in tensor memory", 2, 1, 64},
        {"clc_stages", "responses in shared memory; 0: a cluster has its own tile alone", 2, 0, 64},
        {"cluster_m", "CTAs of a cluster along M", kCtas, kCtas, 16},
        {"cluster_n", "CTAs of a cluster along N", 1, 1, 8},
        {"raster", "way in which tiles are counted: 0 along M, 1 along N", 0, 0, 1},
        {"swizzle", "clusters' tiles along N in a strip; 0: no strips", 0, 0, 64},
        {"resident", "clusters the simulated machine has room for; 0: all its SMs", 0, 0, 1 << 16},
    };
    return kParameters;
  }
  static Extents extents(const ParameterSet& p) { return {Base::extents(p), p.u32("clc_stages")}; }
  static Workload workload(const ParameterSet& p) {
    Workload workload = Base::workload_of(p, Base::extents(p), /*clusters=*/0);
    check_stages_fit<GemmPersistentStorage<Extents, Parts>>(extents(p));
    workload.registers_per_thread = Parts::kThread.of_claiming(kCtas);
    workload.resident_clusters = p.u32("resident");
    return workload;
  }
};

struct GemmPersistent : GemmPersistentOf<CtaGroup::kTwo, GemmParts> {
  static constexpr ScenarioInfo kInfo{
      "gemm_persistent",
      ScenarioKind::kClean,
      "GEMM by pairs of CTAs whose clusters claim tiles by cluster launch control"};
};

}  // namespace warptwin::scenarios
