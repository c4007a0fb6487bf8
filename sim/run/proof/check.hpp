/// Tries a scenario under many schedules: one fair, one in which all that is asynchronous is late,
/// one
/// for each warp that keeps it waiting, and random ones. What it says is how far it looked, never
/// more.

#pragma once

#include <functional>
#include <set>
#include <string>

#include "sim/run/simulate.hpp"

namespace warptwin::sim {

struct CheckOptions {
  RunOptions run;             // its schedule is ignored
  std::uint32_t random = 48;  // uniformly random schedules
  std::uint32_t pct = 48;     // schedules of random priorities
  std::uint32_t pct_depth = 3;
  std::uint64_t seed = 1;
  bool keep_going = false;    // after the first schedule that fails
  bool data_decides = false;  // data moves in every schedule, not in the first alone
  /// Whether a finding is left out, and fails nothing. May be empty.
  std::function<bool(const Finding&)> accepts;
  /// Called before each schedule with its number and the number of all.
  std::function<void(std::uint32_t, std::uint32_t)> progress;
};

struct CheckResult {
  std::uint32_t schedules = 0;
  std::uint32_t failing = 0;
  std::uint64_t operations = 0;
  bool bound_hit = false;    // some schedule did not end within the step bound
  std::size_t accepted = 0;  // findings that were left out
  ScheduleSpec failing_schedule;
  RunResult first_failing;  // valid if failing > 0
  RunResult warnings;       // of a passing schedule, if any had warnings
  ScheduleSpec warning_schedule;
  std::vector<Comparison> comparisons;

  std::string strength() const;  // "39 schedules: ..."
  std::set<std::string> ids;     // of everything found in any schedule
  std::uint32_t starving = 0;
  std::uint32_t random = 0;
  std::uint32_t pct = 0;
};

CheckResult check(const ScenarioEntry& scenario,
                  const ParameterSet& parameters,
                  const CheckOptions& options);

}  // namespace warptwin::sim
