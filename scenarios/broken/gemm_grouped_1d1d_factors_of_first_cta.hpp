/// Broken: in a cluster along N the warps that store the factors of B store those of the first
/// CTA's columns in every CTA.
///
/// They stand in the same block, a word further, and every wait is right.
///
/// Expected: RESULT_WRONG. Twin: gemm_grouped_1d1d.

#pragma once

#include "scenarios/gemm_grouped_1d1d.hpp"

namespace warptwin::scenarios {

/// A cluster's tile, of which every CTA takes the first one's part.
struct TileOfFirstCta : GroupTile {
  constexpr Tile of_rank(const ClusterShape& cluster, std::uint32_t /*rank*/) const {
    return GroupTile::of_rank(cluster, 0);  // the fault: of the CTA's own rank
  }
};

template <Machine M, Role kWho>
struct TilesOfFirstCta : GemmGrouped1d1dTiles<M, kWho> {
  using Base = GemmGrouped1d1dTiles<M, kWho>;
  using Tile = std::conditional_t<kWho == Role::kScaleToTmem, TileOfFirstCta, GroupTile>;

  constexpr TilesOfFirstCta(M& machine, const auto& smem, const auto& problem)
      : Base{machine, smem, problem}, tile{*static_cast<const Base&>(*this)} {}
  constexpr const Tile* operator->() const { return &tile; }
  constexpr void next(SourceSite site = SourceSite::current()) {
    Base::next(site);
    tile = {**static_cast<const Base*>(this)};
  }

  Tile tile;
};

struct GemmGrouped1d1dFactorsOfFirstCta : GemmGrouped1d1d {
  static constexpr ScenarioInfo kInfo{"gemm_grouped_1d1d_factors_of_first_cta",
                                      ScenarioKind::kBroken,
                                      "every CTA of a cluster has the factors of the first one's B",
                                      "RESULT_WRONG",
                                      "gemm_grouped_1d1d"};
  using StaticExtents =
      GemmGrouped1d1dExtents<GemmBlockScaledExtents<0, 128, 32, 128, 4, 2>, 1, 1, 2>;
  template <Machine M, class Extents>
  using Kernel = GemmGrouped1d1dKernel<M, Extents, TilesOfFirstCta>;

  static std::span<const Parameter> parameters() {
    static const auto kParameters =
        extended(GemmGrouped1d1d::parameters(),
                 {{"k", "columns of A and B", 128, 32, 1 << 20, "tile_k"},
                  {"cluster_n", "CTAs of a cluster along N", 2, 1, 8}});
    return kParameters;
  }
};

}  // namespace warptwin::scenarios
