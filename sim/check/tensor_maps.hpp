/// Tensor maps that change on the device: a copy goes through a changed map only behind the two
/// fences that show it the change, fence.proxy.tensormap::generic with .release by who changed it
/// and with .acquire for the map; and a map changes only when the copies through it are known to
/// have read.

#pragma once

#include <memory>

#include "sim/check/detector.hpp"

namespace warptwin::sim {

std::unique_ptr<Detector> make_tensor_maps(Reporter& reporter, Order& order);

}  // namespace warptwin::sim
