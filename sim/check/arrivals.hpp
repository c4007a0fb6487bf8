/// Every phase gets the arrivals it was meant to get: not more, not an early one, not a count out
/// of range.

#pragma once

#include <memory>

#include "sim/check/detector.hpp"

namespace warptwin::sim {

std::unique_ptr<Detector> make_arrivals(Reporter& reporter, Order& order);

}  // namespace warptwin::sim
