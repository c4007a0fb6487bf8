/// The list of detectors, in the order in which they see an event. A detector is one file of this
/// folder, which defines `make_NAME`.

#pragma once

#include <memory>

#include "sim/check/detector.hpp"

// clang-format off
#define WARPTWIN_DETECTORS(X) \
  X(barrier_life) \
  X(barrier_order) \
  X(arrivals) \
  X(transactions) \
  X(waits) \
  X(lone_waits) \
  X(lane_races) \
  X(named_barriers) \
  X(stages) \
  X(copies) \
  X(cta_start) \
  X(registers) \
  X(launch_control) \
  X(dependent_launch) \
  X(layouts) \
  X(shared_data) \
  X(global_data) \
  X(tensor_maps) \
  X(tensor_core) \
  X(warpgroup_mma) \
  X(tensor_memory_life) \
  X(tensor_memory_data) \
  X(exit_life) \
  X(producer_tail) \
  X(traps) \
  X(progress)
// clang-format on

namespace warptwin::sim {

#define WARPTWIN_DECLARE_DETECTOR(name) \
  std::unique_ptr<Detector> make_##name(Reporter& reporter, Order& order);
WARPTWIN_DETECTORS(WARPTWIN_DECLARE_DETECTOR)
#undef WARPTWIN_DECLARE_DETECTOR

}  // namespace warptwin::sim
