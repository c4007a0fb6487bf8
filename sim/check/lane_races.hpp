/// Lanes of one warp are threads: nothing but bar.warp.sync, a CTA or cluster barrier, or a wait
/// orders what one of them does to a word of shared memory and what another does. A lane's own
/// accesses are in its program order, and what one lane releases is what it has done itself.
///
/// Any wait of the warp counts as an order here, whichever lane makes it: what may have gone round
/// through another warp is not reported.

#pragma once

#include <memory>

#include "sim/check/detector.hpp"

namespace warptwin::sim {

std::unique_ptr<Detector> make_lane_races(Reporter& reporter, Order& order);

}  // namespace warptwin::sim
