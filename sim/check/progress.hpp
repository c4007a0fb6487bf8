/// The run comes to its end. If not: who waits, for what, what is missing, and who could supply it.

#pragma once

#include <memory>

#include "sim/check/detector.hpp"

namespace warptwin::sim {

std::unique_ptr<Detector> make_progress(Reporter& reporter, Order& order);

}  // namespace warptwin::sim
