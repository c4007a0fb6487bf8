/// Named and cluster barriers are met by whole warps, once each, with one count.

#pragma once

#include <memory>

#include "sim/check/detector.hpp"

namespace warptwin::sim {

std::unique_ptr<Detector> make_named_barriers(Reporter& reporter, Order& order);

}  // namespace warptwin::sim
