/// Scenario: gemm_2sm whose clusters have a preferred and a fallback shape in one launch.
///
/// Barriers as in gemm_2sm. In a preferred cluster of 2 x 2 two commits free a stage, in a fallback
/// cluster of one pair one does.
///
/// Expected: clean, as gemm_multicast_preferred is.

#pragma once

#include "scenarios/gemm_multicast_preferred.hpp"

namespace warptwin::scenarios {

struct Gemm2smPreferred : GemmPreferredOf<CtaGroup::kTwo, GemmParts> {
  static constexpr ScenarioInfo kInfo{
      "gemm_2sm_preferred",
      ScenarioKind::kClean,
      "GEMM by pairs of CTAs, in clusters of a preferred and of a fallback shape"};
};

}  // namespace warptwin::scenarios
