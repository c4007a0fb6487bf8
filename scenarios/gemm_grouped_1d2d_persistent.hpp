/// Scenario: gemm_grouped_1d2d by pairs of CTAs whose clusters claim tiles by cluster launch
/// control, as gemm_persistent's do. With cta_group=1 an MMA is of one CTA.
///
/// Barrier           Arrivals per phase                    Bytes   Completion means
/// input.full[s]     1   load, elected lane                A + B + sa of both: s may be read
/// input.empty[s]    5   mma, tcgen05.commit               -       stage s may be overwritten
///                       (1 of them; 4 of the epilogue, an elected lane of each warp)
/// accum.full[a]     1   mma, tcgen05.commit               -       the product of a k step is there
/// accum.empty[a]    256 epilogue, every lane              -       accumulator a may be overwritten
/// tmem.done[0]      256 epilogue, every lane              -       tensor memory may be freed
/// tmem.peer[0]      1   mma, elected lane                 -       the peer has allocated
/// clc.full[c]       1   scheduler, elected lane           16      response c may be read
/// clc.empty[c]      416 scheduler, every lane, and all others     -   it may be overwritten
/// throttle.full[c]  32  load, every lane                  -       the next tile has begun
/// throttle.empty[c] 32  scheduler, every lane             -       the scheduler knows
///
/// One cluster for each tile of all groups is launched: the host knows their rows, and one group at
/// least has some. A response names a cluster, and the cluster a tile of a group. The rings of k
/// steps go on from a tile of one group to a tile of another.
///
/// Expected: clean in every interleaving, for all sizes of groups, whichever are empty, any cluster
///           of CTAs or pairs, any number of tiles that a cluster claims, every depth of the rings.

#pragma once

#include "scenarios/gemm_blockwise_fp8_persistent.hpp"
#include "scenarios/gemm_grouped_1d2d.hpp"

namespace warptwin::scenarios {

/// A tile of a group's product.
struct TileOfGroup : Tile {
  std::uint32_t group = 0;
};

/// The tiles of one CTA of a cluster, by the number of the cluster: those of all groups in a row.
template <class Problem>
class ClusterTilesOfGroups {
 public:
  /// Of the CTA with this rank; `problem` must outlive it.
  constexpr ClusterTilesOfGroups(const Problem& problem, std::uint32_t rank)
      : problem_{&problem}, rank_{rank} {}

  constexpr TileOfGroup at(std::uint32_t index) const {
    std::uint32_t group = 0;
    for (; group + 1 < kGroups && index >= problem_->groups[group].tile_walk.count(); ++group) {
      index -= problem_->groups[group].tile_walk.count();
    }
    const TileWalk& walk = problem_->groups[group].tile_walk;
    return {walk.at(index, walk.place(rank_)), group};
  }

 private:
  const Problem* problem_;
  std::uint32_t rank_;
};

/// The roles of gemm_blockwise_fp8 over tiles of several products.
template <Machine M, class Extents, class Parts = BlockwiseParts>
struct BlockwiseGroupsKernel : GemmBlockwiseFp8Kernel<M, Extents, Parts> {
  using Base = GemmBlockwiseFp8Kernel<M, Extents, Parts>;
  using Storage = typename Base::Storage;
  struct Problem {
    typename Base::Problem groups[kGroups];
    [[no_unique_address]] Extents extents;
    std::uint32_t k_tiles;
    constexpr const typename Base::Problem& product_of(const TileOfGroup& tile) const {
      return groups[tile.group];
    }
    constexpr ClusterTilesOfGroups<Problem> tiles_of_rank(std::uint32_t rank) const {
      return {*this, rank};
    }
  };

  static Problem problem(const ParameterSet& p,
                         const Extents& e,
                         std::span<const typename M::TensorMap> maps,
                         std::span<const GlobalAddress> tensors,
                         const TileOrder& order = {}) {
    Problem problem{};
    problem.extents = e;
    problem.k_tiles = ceil_div(p.u32("k"), e.tile_k);
    for (std::uint32_t group = 0; group < kGroups; ++group) {
      const std::uint32_t m = rows_of_group(p, group);
      problem.groups[group] =
          Base::product(m, p, e, maps.subspan(4 * group), tensors.subspan(5 * group), order);
    }
    return problem;
  }
};

/// What the scenarios of every choice of parts share.
template <class Parts>
struct GemmGrouped1d2dPersistentOf : GemmGrouped1d2dOf<Parts> {
  using Base = GemmGrouped1d2dOf<Parts>;
  using StaticExtents = GemmBlockwiseFp8Persistent::StaticExtents;
  using Extents = GemmBlockwiseFp8Persistent::Extents;
  template <Machine M, class Extents>
  using Kernel = GemmBlockwiseFp8PersistentKernel<M,  //
                                                  Extents,
                                                  BlockwiseGroupsKernel<M, Extents, Parts>>;

  static std::span<const Parameter> parameters() {
    static const auto kParameters =
        claiming(Base::shapes(),
                 {{"work", "which groups have their rows, one bit each", 15, 1, 15, nullptr, true},
                  {"tile_m", "rows of an MMA's tile of D", 256, 64, 256},
                  {"cta_group", "CTAs that share an MMA", 2, 1, 2},
                  {"cluster_m", "CTAs of a cluster along M", 2, 1, 16}});
    return kParameters;
  }
  static Extents extents(const ParameterSet& p) { return {Base::extents(p), p.u32("clc_stages")}; }
  static Workload workload(const ParameterSet& p) {
    const auto e = Base::extents(p);
    Workload workload = Base::launch_of_groups(p, e);
    check_stages_fit<ClaimingStorage<Extents, GemmBlockwiseFp8Storage<Extents, Parts>>>(extents(p));
    std::uint32_t tiles = 0;
    for (std::uint32_t group = 0; group < kGroups; ++group) {
      tiles += TileGrid::covering(rows_of_group(p, group), p.u32("n"), e.cta_m(), e.tile_n)
                   .in_clusters(e.cluster())
                   .count();
    }
    require(tiles != 0, "no group has rows: a launch has one tile at least; use m0=1");
    workload.clusters = tiles;
    workload.registers_per_thread = e.tile_n > 64 ? 256U : 120U;  // of the sums
    workload.resident_clusters = p.u32("resident");
    return workload;
  }
};

struct GemmGrouped1d2dPersistent : GemmGrouped1d2dPersistentOf<BlockwiseParts> {
  static constexpr ScenarioInfo kInfo{"gemm_grouped_1d2d_persistent",
                                      ScenarioKind::kClean,
                                      "e4m3 GEMMs of groups, scaled by blocks, of pairs whose "
                                      "clusters claim tiles"};
};

}  // namespace warptwin::scenarios
