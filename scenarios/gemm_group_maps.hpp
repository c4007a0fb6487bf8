/// Tensor maps of groups that a kernel makes: where they stand, who writes them and who reads them.

#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <type_traits>

#include "common/tile/clc_pipeline.hpp"

#include "scenarios/gemm_grouped.hpp"

namespace warptwin::scenarios {

inline constexpr std::uint32_t kMapSlots = 4;
inline constexpr std::uint32_t kMapsOfSlot = 3;  // A's, B's and D's

/// What gemm_2sm has, and the slots that name tiles and have maps.
template <class Extents, class Parts = GemmParts>
struct GemmGroupedMapsStorage : Gemm2smStorage<Extents, Parts> {
  using Base = Gemm2smStorage<Extents, Parts>;

  constexpr GemmGroupedMapsStorage(auto& layout, const Extents& e)
      : Base{layout, e}, work{layout, "work", kGemmGroupedRoles, kMapSlots, kWorkBytes} {}
  constexpr void init(Machine auto& machine) const {
    Base::init(machine);
    work.init(machine);
  }

  WorkRingStorage work;
};

/// The same, and the ring of responses that the scheduler warps read.
template <class Extents, class Parts = GemmParts>
struct ClaimedMapsStorage : GemmGroupedMapsStorage<Extents, Parts> {
  using Base = GemmGroupedMapsStorage<Extents, Parts>;
  using Clc = ClcPipelineStorage<>;

  constexpr ClaimedMapsStorage(auto& layout, const Extents& e)
      : Base{layout, e}, clc{layout, "clc", kGemmGroupedRoles, e.cluster(), e.clc_stages} {}
  constexpr void init(Machine auto& machine) const {
    Base::init(machine);
    clc.init(machine);
  }

  Clc clc;
};

/// Groups of rows of A and D, one behind the other.
struct GroupRows {
  std::uint32_t group = 0;
  std::uint32_t first = 0;         // row of A and D
  std::uint32_t rows = 0;          // of the group
  std::uint32_t tiles_before = 0;  // of the groups before it
};

template <class M, class Extents, class Parts = GemmParts>  // a Machine
struct GemmGroupedMapsProblem {
  typename M::TensorMaps maps;  // of the slots of every CTA; boxes as gemm's
  [[no_unique_address]] Extents extents;
  GlobalAddress a, b, d;                // where the matrices begin
  GlobalAddress rows;                   // of each group, a word
  std::uint32_t a_row, d_row, b_group;  // bytes
  std::uint32_t groups, n, tiles_n, k_tiles;

  /// Host code.
  void set(const ParameterSet& p,
           const Extents& e,
           std::span<const typename M::TensorMap> all,
           std::span<const GlobalAddress> tensors) {
    const std::uint32_t k = p.u32("k");
    maps = {all, tensors[4]};
    extents = e;
    a = tensors[0];
    b = tensors[1];
    d = tensors[2];
    rows = tensors[3];
    n = p.u32("n");
    a_row = matrix("a", TensorUse::kInput, 1, k, Parts::A::kType).pitch_bytes;
    d_row = matrix("d", TensorUse::kOutput, 1, n, Parts::D::kType).pitch_bytes;
    b_group = matrix("b", TensorUse::kInput, 1, k, Parts::B::kType).pitch_bytes * n;
    groups = p.u32("groups");
    tiles_n = ceil_div(n, e.tile_n);
    k_tiles = ceil_div(k, e.tile_k);
  }

  /// Goes on to the group of tile `index` of all groups' tiles in a row, or behind the last group.
  constexpr void find(M& machine, std::uint32_t index, GroupRows& at) const {
    for (; at.group < groups; ++at.group) {
      at.rows = machine.ld_global_u32(rows + std::uint64_t{4} * at.group);
      const std::uint32_t tiles = ceil_div(at.rows, std::uint32_t{extents.tile_m}) * tiles_n;
      if (index < at.tiles_before + tiles) {
        return;
      }
      at.tiles_before += tiles;
      at.first += at.rows;
    }
  }
  /// The rows of tile `index`, of group `groups` if there is none. All groups' words are read: what
  /// is done is the same for every tile.
  constexpr GroupRows rows_of(M& machine, std::uint32_t index) const {
    GroupRows found{.group = groups};
    for (GroupRows at; at.group < groups; ++at.group) {
      at.rows = machine.ld_global_u32(rows + std::uint64_t{4} * at.group);
      const std::uint32_t tiles = ceil_div(at.rows, std::uint32_t{extents.tile_m}) * tiles_n;
      if (index - at.tiles_before < tiles && index >= at.tiles_before) {
        found = at;
      }
      at.tiles_before += tiles;
      at.first += at.rows;
    }
    return found;
  }
  /// The first map of a slot of the warp's CTA.
  constexpr std::uint32_t first_map(const M& machine, std::uint32_t slot) const {
    const std::uint32_t cta = machine.cluster_index() * machine.cluster_size() + machine.cta_rank();
    return (cta * kMapSlots + slot) * kMapsOfSlot;
  }
  /// Whether a tile has maps of its own, as where clusters claim them: whoever computes it goes by
  /// the same. Else a slot has.
  static constexpr bool kMapsOfTiles = requires(const Extents& e) { e.clc_stages; };
  /// The first map of tile `index` in the warp's CTA.
  constexpr std::uint32_t first_map_of_tile(const M& machine, std::uint32_t index) const {
    return (index * machine.cluster_size() + machine.cta_rank()) * kMapsOfSlot;
  }
  /// Makes the maps from `first` on those of a group's rows.
  ///
  /// Participants: one lane. Blocks: never.
  constexpr void write_maps(M& machine, std::uint32_t first, const GroupRows& of) const {
    replace(machine, maps[first], a + std::uint64_t{of.first} * a_row, of.rows);
    replace(machine, maps[first + 1], b + std::uint64_t{of.group} * b_group, n);
    replace(machine, maps[first + 2], d + std::uint64_t{of.first} * d_row, of.rows);
  }
  /// Makes a map one of `rows` rows from an address on.
  static constexpr void replace(M& machine,
                                const typename M::TensorMap& map,
                                GlobalAddress to,
                                std::uint32_t rows) {
    machine.tensormap_replace_global_dim(map, 1, rows);
    machine.tensormap_replace_global_address(map, to);
  }
  static constexpr bool kMapOfA = true;  // a slot has one, and A goes by it
  constexpr decltype(auto) a_of(const auto& at) const { return maps[at.first_map()]; }
  constexpr decltype(auto) b_of(const auto& at) const { return maps[at.first_map() + 1]; }
  constexpr decltype(auto) d_of(const auto& at) const { return maps[at.first_map() + 2]; }
  constexpr void load_a(M&, const auto& stage, const auto& at, TileIndex from) const {
    stage.load(a_of(at), from, stage.payload().a_tile());
  }
  /// The epilogue has asked for the last store of a tile: its maps may change behind this.
  constexpr void end_tile(const auto& writer) const { writer.wait_reads(); }
};

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
    /// Participants: the whole warp. Blocks: until the scheduler has published the next tile.
    constexpr void next(SourceSite site = SourceSite::current()) {
      if (Steps::holds_slot(kWho)) {
        arrive_as<ArrivalKind::kElectedLane>(*machine_, held_, site);  // on work.empty
      }
      take(site);
    }

   private:
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
      if (Steps::holds_slot(kWho) && tile_.exists()) {
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
      const std::uint32_t tiles_m = ceil_div(of.rows, std::uint32_t{problem.extents.tile_m});
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
