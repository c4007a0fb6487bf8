/// Scenario: gemm_swiglu_persistent with MMAs of one CTA: each cluster, of one CTA or of several
/// whose copies are multicast, claims tiles by cluster launch control.
///
/// Barrier           Arrivals per phase                    Bytes   Completion means
/// input.full[s]     1   load, elected lane                A + G + U: stage s may be read
/// input.empty[s]    1   mma, tcgen05.commit               -       stage s may be overwritten
/// accum.full[a]     1   mma, tcgen05.commit               -       accumulator a is complete
/// accum.empty[a]    128 epilogue, every lane              -       accumulator a may be overwritten
/// tmem.done[0]      128 epilogue, every lane              -       tensor memory may be freed
/// source.full[c]    1   epilogue_load, elected lane       2 rows  a box's biases may be read
/// source.empty[c]   128 epilogue, every lane              -       they may be overwritten
/// clc.full[c]       1   scheduler, elected lane           16      response c may be read
/// clc.empty[c]      256 scheduler, every lane, and all others     -   it may be overwritten
/// throttle.full[c]  32  load, every lane                  -       the next tile has begun
/// throttle.empty[c] 32  scheduler, every lane             -       the scheduler knows
///
/// Expected: clean in every interleaving, with biases and without, for every depth of the rings,
///           any cluster, any number of tiles that a cluster claims, and for cut tiles.

#pragma once

#include "scenarios/gemm_swiglu_persistent.hpp"

namespace warptwin::scenarios {

struct GemmSwigluClc : GemmSwigluPersistentOf<CtaGroup::kOne, GemmParts> {
  static constexpr ScenarioInfo kInfo{"gemm_swiglu_clc",
                                      ScenarioKind::kClean,
                                      "gated activation by clusters that claim tiles, an MMA in "
                                      "each CTA"};
};

}  // namespace warptwin::scenarios
