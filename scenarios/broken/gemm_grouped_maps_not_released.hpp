/// Broken: the scheduler warp publishes a slot without releasing the maps that it has written.
///
/// Expected: TENSORMAP_FENCE_MISSING. Twin: gemm_grouped_maps.

#pragma once

#include "scenarios/gemm_grouped_maps.hpp"

namespace warptwin::scenarios {

struct MapsNotReleased : MapSteps {
  static constexpr void release(auto&) {}  // the fault
};

struct GemmGroupedMapsNotReleased : GemmGroupedMaps {
  static constexpr ScenarioInfo kInfo{"gemm_grouped_maps_not_released",
                                      ScenarioKind::kBroken,
                                      "tensor maps published without a fence that releases them",
                                      "TENSORMAP_FENCE_MISSING",
                                      "gemm_grouped_maps"};
  template <Machine M, class Extents>
  using Kernel = GemmGroupedMapsKernel<M, Extents, GemmParts, MapsNotReleased>;
};

}  // namespace warptwin::scenarios
