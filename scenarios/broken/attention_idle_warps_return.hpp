/// Broken: the idle warps return at once, and do not give their registers back.
///
/// Their warpgroup is less than whole when it executes setmaxnreg, and what softmax asks for never
/// gets together.
///
/// Expected: SETMAXNREG_POOL. Twin: attention.

#pragma once

#include "scenarios/broken/attention_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct AttentionIdleWarpsReturnKernel : AttentionKernel<M, Extents> {
  using Base = AttentionKernel<M, Extents>;

  // The fault: no setmaxnreg_dec.
  static constexpr void idle(M&, const typename Base::Problem&, const typename Base::Storage&) {}
};

struct AttentionIdleWarpsReturn : AttentionTwin {
  static constexpr ScenarioInfo kInfo{"attention_idle_warps_return",
                                      ScenarioKind::kBroken,
                                      "idle warps return before setmaxnreg",
                                      "SETMAXNREG_POOL",
                                      "attention"};
  template <Machine M, class Extents>
  using Kernel = AttentionIdleWarpsReturnKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
