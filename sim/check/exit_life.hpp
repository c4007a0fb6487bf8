/// A CTA outlives everything that still touches its shared memory, its barriers and its tensor
/// memory.

#pragma once

#include <memory>

#include "sim/check/detector.hpp"

namespace warptwin::sim {

std::unique_ptr<Detector> make_exit_life(Reporter& reporter, Order& order);

}  // namespace warptwin::sim
