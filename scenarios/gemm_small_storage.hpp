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

/// What a stage holds: `k_group` tiles of each operand.
template <class Extents, class Parts>
using GemmSmallPayload = GroupPayload<StandardTilePayload<typename Parts::A, typename Parts::B>,
                                      decltype(Extents::k_group)>;

/// That of gemm, but for its stages and the boxes of D.
template <class Extents, class Parts = GemmParts>
struct GemmSmallStorage : GemmStorage<Extents, Parts, GemmSmallPayload<Extents, Parts>> {
  constexpr GemmSmallStorage(auto& layout, const Extents& e)
      : GemmStorage<Extents, Parts, GemmSmallPayload<Extents, Parts>>{
            layout,
            e,
            {{e.tile_m, e.tile_n, e.tile_k}, e.k_group},
            e.cluster(),
            e.box_rows(),
            e.box_columns()} {}
};

}  // namespace warptwin::scenarios
