/// Scenario: gemm_persistent whose load warp has its tensor maps, and the boxes of B of its first
/// stages, brought nearer before it waits for the grid before this one. Hints: no value depends on
/// them.
///
/// Barriers as in gemm_persistent.
///
/// Expected: clean, as gemm_persistent is.

#pragma once

#include "scenarios/gemm_persistent.hpp"

namespace warptwin::scenarios {

struct GemmPersistentPrefetch : GemmPersistentOf<CtaGroup::kTwo, Prefetched<GemmParts>> {
  static constexpr ScenarioInfo kInfo{
      "gemm_persistent_prefetch",
      ScenarioKind::kClean,
      "GEMM by pairs of CTAs whose clusters claim tiles, maps and weights prefetched"};
};

}  // namespace warptwin::scenarios
