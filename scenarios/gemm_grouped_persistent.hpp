/// Scenario: gemm_grouped by pairs of CTAs whose clusters claim tiles by cluster launch control, as
/// gemm_persistent's do. With cta_group=1 an MMA is of one CTA. A cluster may have several MMAs.
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
/// One cluster for each tile of all groups is launched. A response names a cluster, and the cluster
/// a tile of a group: every warp finds it by itself. The groups share the rings of a cluster, which
/// go on from a tile of one to a tile of another. A launch without a tile is not made: one group at
/// least has rows.
///
/// Expected: clean in every interleaving, for all sizes of groups, whichever are empty, CTAs or
///           pairs, any number of tiles that a cluster claims, and every depth of the rings.

#pragma once

#include "scenarios/gemm_grouped.hpp"
#include "scenarios/gemm_persistent.hpp"

namespace warptwin::scenarios {

template <class Extents, class Parts = GemmParts>
using GemmGroupedPersistentStorage = ClaimingStorage<Extents, Gemm2smStorage<Extents, Parts>>;

/// `StorageOf` has the ring of responses.
template <class Extents,
          class Parts = GemmParts,
          class StorageOf = GemmGroupedPersistentStorage<Extents, Parts>>
struct GroupClaims {
  using Storage = StorageOf;

  /// The tiles that a cluster claims, as one of its warps is told; the load warp says of each that
  /// it has begun.
  template <class M, Role kWho>  // a Machine
  class Tiles {
   public:
    using Clc = PipelineOf<M, typename Storage::Clc>;
    using Problem = GemmGroupedProblem<M, Extents>;

    constexpr Tiles(M& machine, const Storage& smem, const Problem& problem)
        : machine_{&machine}, clc_{machine, smem.clc}, problem_{&problem} {
      take(problem.tile(machine.cluster_index()), SourceSite::current());
    }

    constexpr bool exists() const { return tile_.exists(); }
    constexpr const GroupTile& operator*() const { return tile_; }
    constexpr const GroupTile* operator->() const { return &tile_; }
    constexpr Clc& clc() { return clc_; }
    /// Participants: the whole warp. Blocks: until the response has come.
    constexpr void next(SourceSite site = SourceSite::current()) {
      const WorkResponse response = clc_.asks() ? clc_.fetch(site) : WorkResponse{};
      const std::uint32_t cluster = response.first_cta / machine_->cluster_size();
      take(response.canceled ? problem_->tile(cluster) : GroupTile{}, site);
    }

   protected:
    constexpr void take(const GroupTile& tile, SourceSite site) {
      tile_ = tile;
      if (kWho == Role::kLoad && exists() && machine_->cta_rank() == 0 && clc_.asks()) {
        clc_.signal_throttle(site);
      }
    }

    M* machine_;
    Clc clc_;
    const Problem* problem_;
    GroupTile tile_;
  };
};

/// `Fixed`, a kernel of groups whose tiles `GroupClaims` tell, and the warp that asks for them.
template <Machine M, class Fixed>
struct ClaimingGroupsKernel : Fixed {
  using Base = Fixed;
  using Storage = typename Base::Storage;
  using Problem = typename Base::Problem;

  static constexpr void scheduler(M& machine, const Problem& problem, const Storage& smem) {
    auto at = Base::template tiles<Role::kScheduler>(machine, problem, smem);
    if (machine.cta_rank() != 0 || !at.clc().asks()) {
      return;  // to the barrier at the end of the cluster
    }
    for (; at.exists(); at.next()) {
      at.clc().wait_throttle();  // the load warp has begun this tile
      at.clc().request();        // waits clc.empty, arms clc.full of every CTA
    }
    at.clc().drain();  // nobody reads a response any more
  }
};

template <Machine M, class Extents, class Claims = GroupClaims<Extents>>
struct GemmGroupedPersistentKernel
    : ClaimingGroupsKernel<
          M,
          GemmGroupedKernel<M, Extents, Claims::template Tiles, typename Claims::Storage>> {
  static constexpr auto kRoles = kGemmPersistentRoles<>;
};

/// What the scenarios of every choice of parts share.
template <class Parts>
struct GemmGroupedPersistentOf : GemmGroupedOf<Parts> {
  using Base = GemmGroupedOf<Parts>;
  using Tiles = GemmGroupedClusterExtents<GemmExtents<256, 128, Base::kTileK, 4, 2>, 2, 2, 1>;
  using StaticExtents = GemmPersistentExtents<Tiles, 2>;
  using Extents = GemmPersistentExtents<GemmGroupedClusterExtents<>>;
  template <Machine M, class Extents>
  using Kernel = GemmGroupedPersistentKernel<M, Extents, GroupClaims<Extents, Parts>>;

  static std::span<const Parameter> parameters() {
    static const auto kParameters = extended(
        Base::shapes(),
        {{"work", "which groups have their rows, one bit each", 15, 1, 15, nullptr, true},
         {"n", "rows of each B, columns of each D", 128, 1, 1 << 20},
         {"tile_m", "rows of an MMA's tile of D", 256, 64, 256},
         {"cta_group", "CTAs that share an MMA", 2, 1, 2},
         {"clc_stages", "responses in shared memory; 0: a cluster has its own tile", 2, 0, 64},
         {"resident", "clusters the simulated machine has room for; 0: all its SMs", 0, 0, 65536}});
    return kParameters;
  }
  static Extents extents(const ParameterSet& p) { return {Base::extents(p), p.u32("clc_stages")}; }
  static Workload workload(const ParameterSet& p) {
    check_stages_fit<GemmGroupedPersistentStorage<Extents, Parts>>(extents(p));
    Workload workload = Base::workload_of(p, Base::extents(p), /*clusters=*/0);
    workload.registers_per_thread = std::is_same_v<typename Parts::A, bf16> ? 80 : 96;
    workload.resident_clusters = p.u32("resident");
    return workload;
  }
};

struct GemmGroupedPersistent : GemmGroupedPersistentOf<GemmParts> {
  static constexpr ScenarioInfo kInfo{
      "gemm_grouped_persistent",
      ScenarioKind::kClean,
      "GEMMs of groups by pairs of CTAs whose clusters claim tiles"};
};

}  // namespace warptwin::scenarios
