/// How long the steps of each role took in two traces whose times are cycles: predicted and
/// measured.
///
/// The interval of an operation is the time from the warp's operation before it. Of a wait that is
/// the waiting; of anything else, what came before it: times are read before an operation, of a
/// wait after it. Intervals are of one warp and so of one clock. They are no mismatch: a prediction
/// is held against its measurement.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/compare/matching.hpp"

namespace warptwin::sim {

/// Cycles, of the first trace and of the second.
struct Interval {
  double first = 0;
  double second = 0;
  double ratio() const { return first > 0 ? second / first : 0; }
};

/// One step of a role at one stage: "waits for input.empty[2]".
struct StepTime {
  std::string role;
  std::string step;
  std::uint64_t count = 0;  // in all its warps
  Interval total;           // of all of them
};

struct RoleInterval {
  std::string role;
  std::uint32_t warps = 0;
  Interval total;  // of one warp on average, from its first operation to its last
};

struct TimeComparison {
  std::vector<RoleInterval> roles;  // in the launch's order
  std::vector<StepTime> steps;      // the largest deviation first
};

/// Empty where a trace's times are no cycles. Only operations that are the same in both count.
TimeComparison compare_times(const Trace& first, const Trace& second, const Matching& matching);

/// A table of the roles, and the largest deviations. `first` and `second` are what the traces are
/// called.
std::string text_of(const TimeComparison& times,
                    const std::string& first,
                    const std::string& second);

}  // namespace warptwin::sim
