/// Scenario: conv2d_fprop_persistent with MMAs of one CTA, each of which claims tiles.
///
/// Barrier           Arrivals per phase                    Bytes   Completion means
/// input.full[s]     1   load, elected lane                A + B   stage s may be read
/// input.empty[s]    1   mma, tcgen05.commit               -       stage s may be overwritten
/// accum.full[a]     1   mma, tcgen05.commit               -       accumulator a is complete
/// accum.empty[a]    128 epilogue, every lane              -       accumulator a may be overwritten
/// tmem.done[0]      128 epilogue, every lane              -       tensor memory may be freed
/// source.full[c]    1   epilogue_load, elected lane       box     box c of Z may be read
/// source.empty[c]   128 epilogue, every lane              -       box c of Z may be overwritten
/// order.full[o]     1   load, elected lane                -       the first copies are under way
/// order.empty[o]    1   epilogue_load, elected lane       -       load may begin another tile
/// clc.full[c]       1   scheduler, elected lane           16      response c may be read
/// clc.empty[c]      256 scheduler, every lane, and all others     -   it may be overwritten
/// throttle.full[c]  32  load, every lane                  -       the next tile has begun
/// throttle.empty[c] 32  scheduler, every lane             -       the scheduler knows
///
/// Expected: clean in every interleaving, as conv2d_fprop_persistent is.

#pragma once

#include "scenarios/conv2d_fprop_persistent.hpp"

namespace warptwin::scenarios {

struct Conv2dFpropClc : Conv2dFpropPersistentOf<CtaGroup::kOne, GemmEpilogueLoadParts> {
  static constexpr ScenarioInfo kInfo{
      "conv2d_fprop_clc", ScenarioKind::kClean, "2-D convolution by CTAs that claim tiles"};
};

}  // namespace warptwin::scenarios
