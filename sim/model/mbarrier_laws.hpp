/// What every step of an mbarrier keeps to.

#pragma once

#include "sim/model/invariant.hpp"
#include "sim/model/mbarrier.hpp"

namespace warptwin::sim {

/// Holds `bar` to its laws behind a step that it made in phase `before`.
inline void keep_laws(std::uint32_t before, const BarrierStep& step, const MbarrierState& bar) {
  WARPTWIN_INVARIANT(kPhasesInTurn, bar.phase() == before + (step.completed ? 1 : 0));
  WARPTWIN_INVARIANT(kCountersDoNotWrap,
                     step.fault != Fault::kNone || bar.pending() <= bar.expected());
}

}  // namespace warptwin::sim
