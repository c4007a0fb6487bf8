/// Broken: who copies by a slot's maps has waited for the slot, and does not acquire the maps.
///
/// The wait orders the scheduler's changes before the copies for the generic proxy alone: a copy
/// may go by the map that the slot had before, or by a part of it.
///
/// Expected: TENSORMAP_FENCE_MISSING. Twin: gemm_grouped_maps.

#pragma once

#include "scenarios/gemm_grouped_maps.hpp"

namespace warptwin::scenarios {

struct MapsNotAcquired : MapSteps {
  static constexpr void acquire(auto&, const auto&, SourceSite) {}  // the fault
};

struct GemmGroupedMapsNotAcquired : GemmGroupedMaps {
  static constexpr ScenarioInfo kInfo{"gemm_grouped_maps_not_acquired",
                                      ScenarioKind::kBroken,
                                      "tensor maps used without a fence that acquires them",
                                      "TENSORMAP_FENCE_MISSING",
                                      "gemm_grouped_maps"};
  template <Machine M, class Extents>
  using Kernel = GemmGroupedMapsKernel<M, Extents, GemmParts, MapsNotAcquired>;
};

}  // namespace warptwin::scenarios
