/// The tiles of groups whose tensor maps a kernel makes: who writes maps, and who reads them.

#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "scenarios/gemm_group_maps.hpp"

namespace warptwin::scenarios {

/// Steps of what writes and reads maps. A wrong twin derives from it, and has one step anew.
struct MapSteps {
  /// What releases the changes that the lane has made.
  static constexpr void release(auto& machine) { machine.fence_proxy_tensormap_release(); }
  /// What lets the warp's copies see a map that others have changed.
  static constexpr void acquire(auto& machine, const auto& map, SourceSite site) {
    machine.fence_proxy_tensormap_acquire(map, site);
  }
  /// The scheduler warp's next response, whose place it frees.
  static constexpr WorkResponse fetch(auto& clc, std::uint32_t /*cta_rank*/) { return clc.fetch(); }
  /// Whether a role frees a slot behind the last copy of its tile, and not once it has read it.
  static constexpr bool holds_slot(Role who) { return who == Role::kMma || who == Role::kEpilogue; }
  /// Whether copies by a slot's maps go to other CTAs, too: nobody but those who read them there
  /// tells that they are over.
  static constexpr bool shares_copies(const ClusterShape& cluster) {
    return cluster.ctas() != cluster.group_ctas();
  }
};

/// The tiles of a CTA, as its scheduler warp tells the others, and whose maps it has written.
template <template <class> class ProblemOf, class Steps = MapSteps>
struct MadeMaps {
  template <class M, Role kWho>  // a Machine
  class Tiles {
   public:
    using Ring = PipelineOf<M, WorkRingStorage>;
    using Problem = ProblemOf<M>;

    constexpr Tiles(M& machine, const auto& smem, const Problem& problem)
        : machine_{&machine}, ring_{machine, smem.work}, problem_{&problem} {
      take(SourceSite::current());
    }

    constexpr bool exists() const { return tile_.exists(); }
    constexpr const GroupTile& operator*() const { return tile_; }
    constexpr const GroupTile* operator->() const { return &tile_; }
    constexpr std::uint32_t first_map() const { return first_map_; }
    /// Where the group's rows begin and how many they are, for a load warp that goes by no map.
    constexpr std::uint32_t first_row() const { return first_row_; }
    constexpr std::uint32_t rows() const { return rows_; }
    /// The load warp has asked for a tile's last copy. Where copies are shared it frees the slot of
    /// the tile before: that one's last stage has been read, and so all of them, by every CTA.
    ///
    /// Participants: the load warp. Blocks: for these reads, if the ring has not come round since.
    constexpr void end_loads(auto& input, SourceSite site = SourceSite::current()) {
      if (holds_for_sharers()) {
        const auto& ring = input.pipeline();
        if (has_before_) {
          if (problem_->k_tiles < ring.stages()) {
            ring.wait_freed(last_before_, site);
          }
          arrive_as<ArrivalKind::kElectedLane>(*machine_, held_before_, site);  // on work.empty
        }
        has_before_ = true;
        held_before_ = held_;
        last_before_ = ring.last_filled();
      }
    }
    /// Participants: the whole warp. Blocks: until the scheduler has published the next tile.
    constexpr void next(SourceSite site = SourceSite::current()) {
      if (Steps::holds_slot(kWho)) {
        arrive_as<ArrivalKind::kElectedLane>(*machine_, held_, site);  // on work.empty
      }
      take(site);
    }

   private:
    /// Maps of a tile are written once: nobody waits for their slot.
    constexpr bool holds_for_sharers() const {
      return kWho == Role::kLoad && !Problem::kMapsOfTiles &&
             Steps::shares_copies(problem_->extents.cluster());
    }
    constexpr void take(SourceSite site) {
      auto slot = ring_.template acquire_consumer<To<kWho, ElectedLane>>(site);  // waits work.full
      const SharedAddress at = ring_.storage().tile(slot.index());
      tile_ = read_tile(*machine_, at, site);
      if constexpr (!Problem::kMapsOfTiles) {
        first_map_ = problem_->first_map(*machine_, slot.index());
      } else if (tile_.exists()) {
        first_map_ = machine_->ld_shared_u32(at + kFirstMapAt, site);
      }
      held_ = slot.mbar();
      if (tile_.exists()) {
        if (kWho == Role::kLoad) {
          if (Problem::kMapOfA) {
            Steps::acquire(*machine_, problem_->a_of(*this), site);
          } else {
            first_row_ = machine_->ld_shared_u32(at + 12, site);
            rows_ = machine_->ld_shared_u32(at + 16, site);
          }
          Steps::acquire(*machine_, problem_->b_of(*this), site);
        } else if (kWho == Role::kEpilogue) {
          Steps::acquire(*machine_, problem_->d_of(*this), site);
        }
      }
      if ((Steps::holds_slot(kWho) || holds_for_sharers()) && tile_.exists()) {
        std::move(slot).release_without_signal();
      } else {
        std::move(slot).release(site);  // one lane arrives on work.empty
      }
    }

    M* machine_;
    Ring ring_;
    const Problem* problem_;
    GroupTile tile_;
    std::uint32_t first_map_ = 0;
    std::uint32_t first_row_ = 0;
    std::uint32_t rows_ = 0;
    Mbarrier held_{};  // work.empty of the slot
    // Of the tile before, where its slot is held: that, and the stage of its last copies.
    bool has_before_ = false;
    Mbarrier held_before_{};
    PipelineState last_before_{};
  };

  /// Publishes the tiles of this CTA, or pair, each with its maps, and then that there is none.
  ///
  /// Participants: the scheduler warp. Blocks: while the ring is full.
  template <Machine M>
  static constexpr void publish(M& machine,
                                const ProblemOf<M>& problem,
                                const WorkRingStorage& work) {
    auto ring = PipelineOf<M, WorkRingStorage>{machine, work};
    GroupRows of;
    for (std::uint32_t index = machine.cluster_index(); of.group < problem.groups;
         index += machine.cluster_count()) {
      problem.find(machine, index, of);
      publish_one(machine, problem, work, ring, index, of);
    }
  }
  /// The same of the tiles that the cluster claims: the scheduler of its first CTA asks for another
  /// cluster before it publishes a tile, and that of each CTA reads the response.
  template <Machine M>
  static constexpr void publish_claimed(M& machine,
                                        const ProblemOf<M>& problem,
                                        const WorkRingStorage& work,
                                        const auto& responses) {
    auto ring = PipelineOf<M, WorkRingStorage>{machine, work};
    auto clc = PipelineOf<M, std::remove_cvref_t<decltype(responses)>>{machine, responses};
    const bool asks = clc.asks() && machine.cta_rank() == 0;
    std::uint32_t index = machine.cluster_index();
    GroupRows of = problem.rows_of(machine, index);
    while (of.group < problem.groups) {
      if (asks) {
        clc.request();  // waits clc.empty, arms clc.full of every CTA
      }
      publish_one(machine, problem, work, ring, index, of);
      const WorkResponse response =
          clc.asks() ? Steps::fetch(clc, machine.cta_rank()) : WorkResponse{};
      index = response.first_cta / machine.cluster_size();
      of = response.canceled ? problem.rows_of(machine, index)  // clusters come in any order
                             : GroupRows{.group = problem.groups};
    }
    publish_one(machine, problem, work, ring, index, of);  // that there is none
    if (asks) {
      clc.drain();  // nobody reads a response any more
    }
  }

 private:
  static constexpr std::uint32_t kFirstMapAt = 20;  // of a slot

  // Tile `index`, which is one of the rows `of`, or none.
  template <Machine M>
  static constexpr void publish_one(M& machine,
                                    const ProblemOf<M>& problem,
                                    const WorkRingStorage& work,
                                    auto& ring,
                                    std::uint32_t index,
                                    const GroupRows& of) {
    GroupTile tile;
    auto slot = ring.acquire_producer();  // waits work.empty
    if (of.group < problem.groups) {
      const std::uint32_t tiles_m = problem.tiles_m(of.rows);
      const std::uint32_t place = index - of.tiles_before;
      tile = {of.group, {place % tiles_m, place / tiles_m}};
      machine.elect_one([&] {
        std::uint32_t first_map = problem.first_map(machine, slot.index());
        if constexpr (ProblemOf<M>::kMapsOfTiles) {
          first_map = problem.first_map_of_tile(machine, index);
          machine.st_shared_u32(work.tile(slot.index()) + kFirstMapAt, first_map);
        }
        problem.write_maps(machine, first_map, of);
        Steps::release(machine);
        machine.st_shared_u32(work.tile(slot.index()) + 12, of.first);
        machine.st_shared_u32(work.tile(slot.index()) + 16, of.rows);
      });
    }
    write_tile(machine, work.tile(slot.index()), tile);
    std::move(slot).release();  // arrives on work.full
  }
};

}  // namespace warptwin::scenarios
