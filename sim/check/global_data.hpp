/// Global-memory data: two accesses that touch the same bytes, one of them a write, are ordered,
/// be they copies or single words; but for the acquiring reads and releasing writes of flags, which
/// never race with one another. A copy's store is complete for its thread only after
/// cp.async.bulk.wait_group without .read.

#pragma once

#include <memory>

#include "sim/check/detector.hpp"

namespace warptwin::sim {

std::unique_ptr<Detector> make_global_data(Reporter& reporter, Order& order);

}  // namespace warptwin::sim
