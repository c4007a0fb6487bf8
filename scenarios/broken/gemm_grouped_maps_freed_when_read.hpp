/// Broken: the epilogue frees a slot once it has read it, as gemm_grouped's does, whose maps are
/// there for good.
///
/// The scheduler writes the next tile's maps there while copies go by those of this one.
///
/// Expected: TENSORMAP_MODIFIED_IN_FLIGHT. Twin: gemm_grouped_maps.

#pragma once

#include "scenarios/gemm_grouped_maps.hpp"

namespace warptwin::scenarios {

struct MapsFreedWhenRead : MapSteps {
  static constexpr bool holds_slot(Role) { return false; }  // the fault
};

struct GemmGroupedMapsFreedWhenRead : GemmGroupedMaps {
  static constexpr ScenarioInfo kInfo{"gemm_grouped_maps_freed_when_read",
                                      ScenarioKind::kBroken,
                                      "tensor maps rewritten while copies go by them",
                                      "TENSORMAP_MODIFIED_IN_FLIGHT",
                                      "gemm_grouped_maps"};
  template <Machine M, class Extents>
  using Kernel = GemmGroupedMapsKernel<M, Extents, GemmParts, MapsFreedWhenRead>;

  static std::span<const Parameter> parameters() {
    static const auto kParameters = extended(
        GemmGroupedMaps::parameters(), {{"ctas", "CTAs that share the tiles", 1, 0, 1 << 16}});
    return kParameters;
  }
};

}  // namespace warptwin::scenarios
