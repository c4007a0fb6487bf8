/// Registers of a tcgen05.ld are used after its wait; accumulators are loaded after their MMAs, and
/// overwritten after their loads.

#pragma once

#include <memory>

#include "sim/check/detector.hpp"

namespace warptwin::sim {

std::unique_ptr<Detector> make_tensor_memory_data(Reporter& reporter, Order& order);

}  // namespace warptwin::sim
