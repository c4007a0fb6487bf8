/// What a CTA of gemm_2sm has: the shapes of its tiles, and its shared memory and tensor memory.

#pragma once

#include <cstdint>

#include "common/sync/cluster_shape.hpp"

#include "scenarios/gemm.hpp"
#include "scenarios/gemm_result.hpp"

namespace warptwin::scenarios {

/// `tile_m` by `tile_n` is the shape of an MMA; each CTA of its group computes a part of the rows.
template <CtaGroup kGroup,
          class Tiles = GemmExtents<>,
          std::uint32_t kClusterM = kDynamic,
          std::uint32_t kClusterN = kDynamic>
struct GemmClusterExtents : Tiles {
  [[no_unique_address]] Extent<kClusterM> cluster_m;
  [[no_unique_address]] Extent<kClusterN> cluster_n;

  static constexpr std::uint32_t kCtas = ctas_in(kGroup);  // of an MMA
  constexpr std::uint32_t cta_m() const { return this->tile_m / kCtas; }
  constexpr std::uint32_t cta_n() const { return this->tile_n / kCtas; }  // of B that it holds
  constexpr ClusterShape cluster() const { return {cluster_m, cluster_n, kGroup}; }
  /// With 64 rows in each of a pair, lanes 0 to 63 hold the first half of the columns, the others
  /// the second.
  constexpr std::uint32_t column_parts() const {
    return kCtas == 1 || cta_m() == kTmemLanes ? 1 : 2;
  }
  constexpr std::uint32_t accum_columns() const { return this->tile_n / column_parts(); }
  /// Columns of the boxes that a result of type `D` is stored in: a constant where the tiles are.
  template <class D>
  constexpr auto box_extent() const {
    if constexpr (decltype(Tiles::tile_n)::kIsStatic) {
      return Extent<box_columns<D>(GemmClusterExtents{}.accum_columns())>{};
    } else {
      return Extent<>{box_columns<D>(accum_columns())};
    }
  }
  /// What `AccumTile` is told.
  constexpr auto accum_rows() const {
    if constexpr (kCtas == 1) {
      return this->tile_m;
    } else {
      return Extent<kTmemLanes>{};
    }
  }
};
template <class Tiles = GemmExtents<>,
          std::uint32_t kClusterM = kDynamic,
          std::uint32_t kClusterN = kDynamic>
using Gemm2smExtents = GemmClusterExtents<CtaGroup::kTwo, Tiles, kClusterM, kClusterN>;

/// A CTA's shared memory; the names are those of the reports. `Payload`: what a stage holds.
template <class Extents, class Parts = GemmParts, class Payload = PayloadOf<Parts>>
struct Gemm2smStorage {
  using D = typename Parts::D;
  using Function = typename Parts::Function;
  static constexpr std::uint32_t kWarpgroups = Parts::kWarpgroups;  // of the epilogue
  static constexpr std::uint32_t kLoadWarps = Parts::kLoadWarps;
  static constexpr auto kRoles = kGemmRolesWith<kWarpgroups, kLoadWarps>;
  using Input = InputPipelineStorage<Payload,
                                     From<Role::kLoad, typename Parts::Filled>,
                                     To<Role::kMma, UmmaCommit>>;
  using Accum = OutputPipelineStorage<From<Role::kMma, UmmaCommit>, To<Role::kEpilogue, EveryLane>>;

  constexpr Gemm2smStorage(auto& layout, const Extents& e)
      : Gemm2smStorage{layout, e, e.accum_columns()} {}
  constexpr Gemm2smStorage(auto& layout, const Extents& e, std::uint32_t columns)  // of a tile of D
      : Gemm2smStorage{layout, e, Payload{e.cta_m(), e.cta_n(), e.tile_k}, columns, 0} {}
  /// With `columns_beside` the accumulators in tensor memory.
  constexpr Gemm2smStorage(auto& layout,
                           const Extents& e,
                           const Payload& payload,
                           std::uint32_t columns,
                           std::uint32_t columns_beside)
      : Gemm2smStorage{layout, e, payload, ResultBoxes::of<Parts>(e, columns), columns_beside} {}
  constexpr Gemm2smStorage(auto& layout,
                           const Extents& e,
                           const Payload& payload,
                           const ResultBoxes& boxes,
                           std::uint32_t columns_beside)
      : input{layout, "input", kRoles, e.cluster(), payload, e.stages},
        out{layout, "out", kRoles, boxes.rows, boxes.columns, boxes.in_buffer, Parts::kWarpgroups},
        accum{layout,
              "accum",
              kRoles,
              e.cluster(),
              {e.accum_stages, e.accum_columns(), columns_beside}},
        tmem{layout, "tmem", kRoles, e.cluster()} {}
  constexpr void init(Machine auto& machine) const {
    input.init(machine);
    accum.init(machine);
    tmem.init(machine);
  }

  Input input;
  OutputTileStorage<D> out;
  Accum accum;
  TmemDeallocStorage<> tmem;
};

}  // namespace warptwin::scenarios
