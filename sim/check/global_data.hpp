/// Global-memory data: the copies to and from it that touch the same bytes, one of them a store,
/// are ordered. A store is complete for its thread only after cp.async.bulk.wait_group without
/// .read.
///
/// Clusters that hand data over by global flags are judged within each cluster only.

#pragma once

#include <memory>

#include "sim/check/detector.hpp"

namespace warptwin::sim {

std::unique_ptr<Detector> make_global_data(Reporter& reporter, Order& order);

}  // namespace warptwin::sim
