/// A stage is used between its acquire and its release, and released once.

#pragma once

#include <memory>

#include "sim/check/detector.hpp"

namespace warptwin::sim {

std::unique_ptr<Detector> make_stages(Reporter& reporter, Order& order);

}  // namespace warptwin::sim
