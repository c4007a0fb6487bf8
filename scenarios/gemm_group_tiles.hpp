/// Groups of products in one launch: their tiles in a row, and a ring that says which to take.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "common/kernel/scenario.hpp"
#include "common/kernel/tile_scheduler.hpp"
#include "common/machine/machine.hpp"
#include "common/machine/roles.hpp"
#include "common/pipeline/producer_consumer_pipeline.hpp"
#include "common/sync/cluster_shape.hpp"
#include "common/sync/participants.hpp"

namespace warptwin::scenarios {

inline constexpr std::uint32_t kGroups = 4;
inline constexpr std::uint32_t kWorkStages = 2;
inline constexpr std::uint32_t kWorkBytes = 32;  // of a slot

using WorkRingStorage = RingStorage<From<Role::kScheduler, ElectedLane>,
                                    To<Role::kLoad, ElectedLane>,
                                    To<Role::kMma, ElectedLane>,
                                    To<Role::kEpilogue, ElectedLane>>;

/// Rows of A and D in a group. Host code.
inline std::uint32_t rows_of_group(const ParameterSet& p, std::uint32_t group) {
  constexpr const char* kRows[kGroups] = {"m0", "m1", "m2", "m3"};
  return (p.u32("work") >> group & 1U) != 0 ? p.u32(kRows[group]) : 0;
}

/// CTAs of a cluster along M: those of an MMA, if nothing else is said. Host code.
inline std::uint32_t cluster_m(const ParameterSet& p) {
  return p.u32("cluster_m") == 0 ? p.u32("cta_group") : p.u32("cluster_m");
}

/// A tile of a group, or none: what a cluster computes at once.
struct GroupTile {
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  std::uint32_t group = kNone;
  Tile tile;

  constexpr bool exists() const { return group != kNone; }
  /// The part of the CTA `rank`: its rows in units of a CTA's, its columns in those of an MMA's.
  constexpr Tile of_rank(const ClusterShape& cluster, std::uint32_t rank) const {
    return {tile.m * cluster.m + cluster.rank_m(rank), tile.n * cluster.n + cluster.rank_n(rank)};
  }
};

template <Machine M, class Extents>
struct GemmGroupedProblem {
  typename M::TensorMap a[kGroups], b[kGroups], d[kGroups];  // boxes as gemm's
  [[no_unique_address]] Extents extents;
  std::uint32_t tiles_m[kGroups];  // of clusters; 0 of an empty group
  std::uint32_t tiles_n, k_tiles;

  /// Of every group's `maps`: A's and B's first, D's last. Host code.
  void set(const ParameterSet& p,
           const Extents& e,
           std::span<const typename M::TensorMap> maps,
           std::span<const GlobalAddress> = {}) {
    const std::size_t each = maps.size() / kGroups;
    extents = e;
    for (std::uint32_t group = 0; group < kGroups; ++group) {
      const auto own = maps.subspan(each * group, each);
      a[group] = own[0];
      b[group] = own[1];
      d[group] = own.back();
      tiles_m[group] = ceil_div(rows_of_group(p, group), e.cta_m() * e.cluster().m);
    }
    tiles_n = ceil_div(p.u32("n"), e.tile_n * e.cluster().n);
    k_tiles = ceil_div(p.u32("k"), e.tile_k);
  }
  constexpr const typename M::TensorMap& b_of(const auto& at) const { return b[at->group]; }
  constexpr const typename M::TensorMap& d_of(const auto& at) const { return d[at->group]; }
  /// Copies tile `from` of a group's A into a stage.
  constexpr void load_a(M&, const auto& stage, const auto& at, TileIndex from) const {
    stage.load(a[at->group], from, stage.payload().a_tile());
  }
  /// The epilogue has asked for the last store of a tile. Its maps are there for good.
  constexpr void end_tile(const auto& /*writer*/) const {}
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

/// What `write_tile` has written.
template <Machine M>
constexpr GroupTile read_tile(M& machine, SharedAddress slot, SourceSite site) {
  const std::uint32_t group = machine.ld_shared_u32(slot, site) - 1;
  const std::uint32_t m = machine.ld_shared_u32(slot + 4, site);
  return {group, {m, machine.ld_shared_u32(slot + 8, site)}};
}

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

}  // namespace warptwin::scenarios
