/// What a CTA of gemm_small has: the shapes of its tiles, and its shared memory and tensor memory.

#pragma once

#include <cstdint>

#include "scenarios/gemm.hpp"

namespace warptwin::scenarios {

/// `tile_m` by `tile_n` is the shape of an MMA. With swap_ab 1, its rows are columns of D.
template <class Tiles = GemmExtents<>,
          std::uint32_t kKGroup = kDynamic,
          std::uint32_t kSwapAb = kDynamic,
          std::uint32_t kPrefetch = kDynamic,
          std::uint32_t kClusterM = kDynamic,
          std::uint32_t kClusterN = kDynamic>
struct GemmSmallExtents : Tiles {
  [[no_unique_address]] Extent<kKGroup> k_group;
  [[no_unique_address]] Extent<kSwapAb> swap_ab;
  [[no_unique_address]] Extent<kPrefetch> prefetch;
  [[no_unique_address]] Extent<kClusterM> cluster_m;
  [[no_unique_address]] Extent<kClusterN> cluster_n;

  constexpr bool swapped() const { return swap_ab != 0; }
  constexpr ClusterShape cluster() const { return {cluster_m, cluster_n, CtaGroup::kOne}; }
  /// The shape of the boxes that D is stored in. Its elements have two bytes.
  constexpr std::uint32_t box_rows() const { return swapped() ? this->tile_n : this->tile_m; }
  constexpr std::uint32_t box_columns() const {
    return warptwin::box_columns<bf16>(swapped() ? this->tile_m : this->tile_n);
  }
};

/// A CTA's shared memory; the names are those of the reports.
template <class Extents, class Parts = GemmParts>
struct GemmSmallStorage {
  using D = typename Parts::D;
  using Payload = GroupPayload<StandardTilePayload<typename Parts::A, typename Parts::B>,
                               decltype(Extents::k_group)>;
  using Input =
      InputPipelineStorage<Payload, From<Role::kLoad, TmaBytes>, To<Role::kMma, UmmaCommit>>;
  using Accum = typename GemmStorage<Extents>::Accum;

  constexpr GemmSmallStorage(auto& layout, const Extents& e)
      : input{layout,
              "input",
              kGemmRoles,
              e.cluster(),
              {{e.tile_m, e.tile_n, e.tile_k}, e.k_group},
              e.stages},
        out{layout, "out", kGemmRoles, e.box_rows(), e.box_columns()},
        accum{layout, "accum", kGemmRoles, {}, {e.accum_stages, e.tile_n}},
        tmem{layout, "tmem", kGemmRoles, {}} {}
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
