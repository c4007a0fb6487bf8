/// One run of a scenario in time, on a chip.

#pragma once

#include <optional>
#include <string>

#include "sim/run/occupancy.hpp"
#include "sim/run/simulate.hpp"
#include "sim/run/time/interval.hpp"
#include "sim/timed/engine.hpp"

namespace warptwin::sim {

struct TimingOptions {
  RunOptions run;                 // moves no data unless it says so; where CTAs are is decided here
  std::uint32_t ctas_per_sm = 0;  // at most; 0: as many as fit
  std::uint32_t resident_ctas = 0;  // at a time on all SMs, at most; 0: as many as fit
  double clock = 0;                 // GHz; 0: the chip's
  bool l2_warm = false;             // the inputs are in L2 at the start, as far as they fit
  /// Of the inputs, where only a part of a longer run is executed; 0: what the scenario says.
  double input_bytes = 0;
  bool path = false;       // collect the critical path and slack
  bool over_time = false;  // collect the use of units over time
  /// Of so many of the last steps, in a long run: a step takes 24 bytes.
  std::size_t path_steps = CauseLog::kStepsMost;
  /// Where a checked run is long, let the detectors see a sample of its clusters.
  bool sample = false;
  /// Of a large problem as many steps as it may need are taken, where `run.limits` has fewer.
  bool steps_by_work = false;
};

/// What the detectors saw of the clusters, where it was not all.
struct CheckedSample {
  std::uint32_t places = 0;  // clusters that are on the machine at a time
  std::uint32_t seen = 0;    // of these: from the first cluster there to the last
  ClusterKinds kinds;
};

struct TimingResult {
  /// Of a checked run, `choices` is the schedule that shows its findings in the functional engine.
  RunResult run;
  TimedStats stats;
  Occupancy occupancy;              // of an SM
  bool registers_counted = false;   // for the occupancy: the scenario says them
  std::uint32_t resident_ctas = 0;  // on all SMs at a time, as far as the grid has them
  double flops = 0;                 // 0: the scenario does not say
  double clock_held = 0;            // GHz, under the chip's power cap
  double microseconds = 0;          // of the grid, at that clock
  double launch_microseconds = 0;   // in front of it
  std::string binds;                // what the time is bound by
  std::string change;               // what would change it; empty where no path was asked for
  std::optional<Uncertainty> uncertainty;  // of `microseconds`; where a path was asked for
  std::optional<CheckedSample> sample;     // set where the detectors did not see all

  double tflops() const { return microseconds > 0 ? flops / microseconds / 1e6 : 0; }
};

/// A checked run is whole, unless `options.sample` and all of these: it has more operations than
/// detectors look at in a fraction of a second, its clusters do not meet in global memory, and what
/// the sample shows is clean.
///
/// Throws ConfigError when parameters, inputs or chip do not fit.
TimingResult time_scenario(const ScenarioEntry& scenario,
                           const ParameterSet& parameters,
                           const Chip& chip,
                           const TimingOptions& options);

}  // namespace warptwin::sim
