/// Scenario: the main loop of a GEMM in one CTA, alone, of e4m3 operands.
///
/// Barriers as in mainloop.
///
/// Expected: clean in every interleaving, for every stages >= 1 and any number of steps.

#pragma once

#include "scenarios/mainloop.hpp"

namespace warptwin::scenarios {

struct MainloopFp8 : MainloopOf<f8e4m3> {
  static constexpr ScenarioInfo kInfo{
      "mainloop_fp8", ScenarioKind::kClean, "one CTA's main loop, e4m3: TMA warp and MMA warp"};
  template <Machine M, class Extents>
  using Kernel = MainloopKernel<f8e4m3, M, Extents>;
};

}  // namespace warptwin::scenarios
