/// Tensor maps of groups that a kernel makes: where they stand, and what is written there.

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
    tiles_n = ceil_div(n, e.tile_n * e.cluster().n);
    k_tiles = ceil_div(k, e.tile_k);
  }

  /// Tiles of clusters along M, of so many rows.
  constexpr std::uint32_t tiles_m(std::uint32_t of_rows) const {
    return ceil_div(of_rows, extents.cta_m() * extents.cluster().m);
  }
  /// Goes on to the group of tile `index` of all groups' tiles in a row, or behind the last group.
  constexpr void find(M& machine, std::uint32_t index, GroupRows& at) const {
    for (; at.group < groups; ++at.group) {
      at.rows = machine.ld_global_u32(rows + std::uint64_t{4} * at.group);
      const std::uint32_t tiles = tiles_m(at.rows) * tiles_n;
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
      const std::uint32_t tiles = tiles_m(at.rows) * tiles_n;
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

}  // namespace warptwin::scenarios
