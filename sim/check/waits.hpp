/// A wait observes the phase it means. Parity cannot tell phases two apart; here they are numbers.

#pragma once

#include <memory>

#include "sim/check/detector.hpp"

namespace warptwin::sim {

std::unique_ptr<Detector> make_waits(Reporter& reporter, Order& order);

}  // namespace warptwin::sim
