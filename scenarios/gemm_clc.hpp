/// Scenario: gemm_persistent with MMAs of one CTA: each cluster, of one CTA or of several whose
/// copies are multicast, claims tiles by cluster launch control.
///
/// Barrier           Arrivals per phase                    Bytes   Completion means
/// input.full[s]     1   load, elected lane                both    stage s may be read
/// input.empty[s]    1   mma, tcgen05.commit               -       stage s may be overwritten
/// accum.full[a]     1   mma, tcgen05.commit               -       accumulator a is complete
/// accum.empty[a]    128 epilogue, every lane              -       accumulator a may be overwritten
/// tmem.done[0]      128 epilogue, every lane              -       tensor memory may be freed
/// clc.full[c]       1   scheduler, elected lane           16      response c may be read
/// clc.empty[c]      224 scheduler, every lane, and all others     -   it may be overwritten
/// throttle.full[c]  32  load, every lane                  -       the next tile has begun
/// throttle.empty[c] 32  scheduler, every lane             -       the scheduler knows
///
/// In clusters cluster_m + cluster_n - 1 commits free a stage, and 192 lanes of every CTA a
/// response.
///
/// Expected: clean in every interleaving, for every depth of the rings, any cluster, any number of
///           tiles that a cluster claims, and for edges that cut a tile.

#pragma once

#include "scenarios/gemm_persistent.hpp"

namespace warptwin::scenarios {

struct GemmClc : GemmPersistentOf<CtaGroup::kOne, GemmParts> {
  static constexpr ScenarioInfo kInfo{
      "gemm_clc",
      ScenarioKind::kClean,
      "GEMM whose clusters claim tiles by cluster launch control, an MMA in each CTA"};
};

}  // namespace warptwin::scenarios
