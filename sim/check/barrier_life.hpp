/// An mbarrier is used only while it is one: initialised, aligned, in its own memory, not
/// clobbered.

#pragma once

#include <memory>

#include "sim/check/detector.hpp"

namespace warptwin::sim {

std::unique_ptr<Detector> make_barrier_life(Reporter& reporter, Order& order);

}  // namespace warptwin::sim
