/// After one lane has waited alone, in `elect_one` or `for_lanes`, the warp meets before it does
/// anything as a whole: until then its other lanes have not waited, and see nothing of what the
/// wait acquired. What is issued once is the elected lane's, and may come before.

#pragma once

#include <memory>

#include "sim/check/detector.hpp"

namespace warptwin::sim {

std::unique_ptr<Detector> make_lone_waits(Reporter& reporter, Order& order);

}  // namespace warptwin::sim
