/// The bytes a phase announces are the bytes its copies deliver, in that phase.

#pragma once

#include <memory>

#include "sim/check/detector.hpp"

namespace warptwin::sim {

std::unique_ptr<Detector> make_transactions(Reporter& reporter, Order& order);

}  // namespace warptwin::sim
