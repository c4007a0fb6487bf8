/// Scenario: gemm_grouped_gather by clusters that claim tiles.
///
/// Barriers as in gemm_grouped_maps_persistent.
///
/// Expected: clean, as gemm_grouped_maps_persistent is, for any tokens.

#pragma once

#include "scenarios/gemm_grouped_gather.hpp"
#include "scenarios/gemm_grouped_maps_persistent.hpp"

namespace warptwin::scenarios {

struct GemmGroupedGatherPersistent
    : GemmGroupedGatherOf<GemmParts, GemmGroupedMapsPersistentOf<GemmParts>> {
  static constexpr ScenarioInfo kInfo{
      "gemm_grouped_gather_persistent",
      ScenarioKind::kClean,
      "GEMMs of groups of gathered rows, by clusters that claim tiles"};
};

}  // namespace warptwin::scenarios
