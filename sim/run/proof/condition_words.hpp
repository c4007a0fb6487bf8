/// A condition that does not hold, in words.

#pragma once

#include "sim/check/detector.hpp"
#include "sim/prove/run_order.hpp"

namespace warptwin::sim {

/// As a diagnostic: what is in which order with what, what comes of it, and what is missing.
Finding in_words(const RunOrder::Finding& broken, const Naming& naming);

}  // namespace warptwin::sim
