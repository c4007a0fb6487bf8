/// Scenario: gemm_clc whose load warp has its tensor maps, and the boxes of B of its first stages,
/// brought nearer before it waits for the grid before this one. Hints: no value depends on them.
///
/// Barriers as in gemm_clc.
///
/// Expected: clean, as gemm_clc is.

#pragma once

#include "scenarios/gemm_clc.hpp"

namespace warptwin::scenarios {

struct GemmClcPrefetch : GemmPersistentOf<CtaGroup::kOne, Prefetched<GemmParts>> {
  static constexpr ScenarioInfo kInfo{
      "gemm_clc_prefetch",
      ScenarioKind::kClean,
      "GEMM whose clusters claim tiles, maps and weights prefetched"};
};

}  // namespace warptwin::scenarios
