/// Scenario: gemm_epilogue_load_persistent with MMAs of one CTA: each cluster, of one CTA or of
/// several whose copies are multicast, claims tiles by cluster launch control.
///
/// Barrier           Arrivals per phase                    Bytes   Completion means
/// input.full[s]     1   load, elected lane                both    stage s may be read
/// input.empty[s]    1   mma, tcgen05.commit               -       stage s may be overwritten
/// accum.full[a]     1   mma, tcgen05.commit               -       accumulator a is complete
/// accum.empty[a]    128 epilogue, every lane              -       accumulator a may be overwritten
/// tmem.done[0]      128 epilogue, every lane              -       tensor memory may be freed
/// source.full[c]    1   epilogue_load, elected lane       part    part c of the source may be read
/// source.empty[c]   128 epilogue, every lane              -       part c may be overwritten
/// order.full[o]     1   load, elected lane                -       the first copies are under way
/// order.empty[o]    1   epilogue_load, elected lane       -       load may begin another tile
/// clc.full[c]       1   scheduler, elected lane           16      response c may be read
/// clc.empty[c]      256 scheduler, every lane, and all others     -   it may be overwritten
/// throttle.full[c]  32  load, every lane                  -       the next tile has begun
/// throttle.empty[c] 32  scheduler, every lane             -       the scheduler knows
///
/// In clusters cluster_m + cluster_n - 1 commits free a stage, and 224 lanes of every CTA a
/// response.
///
/// Expected: clean in every interleaving, for each kind of source, every depth of the rings, any
///           cluster, any number of tiles that a cluster claims, and for cut tiles.

#pragma once

#include "scenarios/gemm_epilogue_load_persistent.hpp"

namespace warptwin::scenarios {

struct GemmEpilogueLoadClc : GemmEpilogueLoadPersistentOf<CtaGroup::kOne, GemmEpilogueLoadParts> {
  static constexpr ScenarioInfo kInfo{"gemm_epilogue_load_clc",
                                      ScenarioKind::kClean,
                                      "GEMM whose clusters claim tiles, an MMA in each CTA, and "
                                      "whose epilogue adds a matrix loaded by TMA"};
};

}  // namespace warptwin::scenarios
