/// Broken: in a cluster whose CTAs share copies, a slot's maps are made anew when the CTA's own
/// part of each copy has come, as where nobody shares.
///
/// The same copy may still be on its way to another CTA, and read by the map.
///
/// Expected: TENSORMAP_MODIFIED_IN_FLIGHT. Twin: gemm_grouped_maps.

#pragma once

#include "scenarios/gemm_grouped_maps.hpp"

namespace warptwin::scenarios {

struct MapsFreedWhenOwnCopiesCame : MapSteps {
  static constexpr bool shares_copies(const ClusterShape&) { return false; }  // the fault
};

struct GemmGroupedMapsFreedWhenOwnCopiesCame : GemmGroupedMaps {
  static constexpr ScenarioInfo kInfo{"gemm_grouped_maps_freed_when_own_copies_came",
                                      ScenarioKind::kBroken,
                                      "tensor maps rewritten while another CTA gets a copy by them",
                                      "TENSORMAP_MODIFIED_IN_FLIGHT",
                                      "gemm_grouped_maps"};
  using StaticExtents = GemmGroupedClusterExtents<GemmExtents<128, 128, kTileK, 4, 2>, 1, 1, 2>;
  template <Machine M, class Extents>
  using Kernel = GemmGroupedMapsKernel<M, Extents, GemmParts, MapsFreedWhenOwnCopiesCame>;

  static std::span<const Parameter> parameters() {
    static const auto kParameters =
        extended(GemmGroupedMaps::parameters(),
                 {{"k", "columns of A and B", 128, 1, 1 << 20, "tile_k"},
                  {"ctas", "clusters that share the tiles", 1, 0, 1 << 16},
                  {"cluster_n", "CTAs of a cluster along N", 2, 1, 8}});
    return kParameters;
  }
};

}  // namespace warptwin::scenarios
