/// Tensor memory is allocated, used and freed by the rules: by whole warps, in order, all of it.

#pragma once

#include <memory>

#include "sim/check/detector.hpp"

namespace warptwin::sim {

std::unique_ptr<Detector> make_tensor_memory_life(Reporter& reporter, Order& order);

}  // namespace warptwin::sim
