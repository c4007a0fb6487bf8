/// Broken: the load warp does not say that a tile has begun, and the scheduler waits for that.
///
/// Expected: DEADLOCK. Twin: attention_clc.

#pragma once

#include "scenarios/attention_clc.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct AttentionClcNoThrottleKernel : AttentionClcKernel<M, Extents> {
  using Base = AttentionClcKernel<M, Extents>;
  using Storage = typename Base::Storage;
  using Problem = typename Base::Problem;

  static constexpr void load(M& machine, const Problem& problem, const Storage& smem) {
    Base::load_tiles(machine, problem, smem, [] {});  // the fault: a tile begins, and nobody knows
  }
};

struct AttentionClcNoThrottle : AttentionClc {
  static constexpr ScenarioInfo kInfo{"attention_clc_no_throttle",
                                      ScenarioKind::kBroken,
                                      "the scheduler is not told that a tile has begun",
                                      "DEADLOCK",
                                      "attention_clc"};
  template <Machine M, class Extents>
  using Kernel = AttentionClcNoThrottleKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
