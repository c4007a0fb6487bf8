/// Nobody uses an mbarrier before its initialisation is ordered before him: a barrier of the CTA
/// for its
/// own warps, of the cluster for others.

#pragma once

#include <memory>

#include "sim/check/detector.hpp"

namespace warptwin::sim {

std::unique_ptr<Detector> make_barrier_init_order(Reporter& reporter, Order& order);

}  // namespace warptwin::sim
