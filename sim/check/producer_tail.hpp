/// In a cluster, a producer leaves only after every stage it filled has been freed: until then
/// another
/// CTA may still arrive on its barriers.

#pragma once

#include <memory>

#include "sim/check/detector.hpp"

namespace warptwin::sim {

std::unique_ptr<Detector> make_producer_tail(Reporter& reporter, Order& order);

}  // namespace warptwin::sim
