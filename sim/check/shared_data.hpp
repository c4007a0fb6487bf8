/// Shared-memory data: every two accesses to the same bytes, one of them a write, are ordered, and
/// through a proxy fence where one is generic and the later one is of a copy or the tensor core.
///
/// Keeps, for each CTA, the accesses that a later one may still meet. Judged by order, not by time:
/// one run shows what is missing in any.

#pragma once

#include <memory>

#include "sim/check/detector.hpp"

namespace warptwin::sim {

std::unique_ptr<Detector> make_shared_data(Reporter& reporter, Order& order);

}  // namespace warptwin::sim
