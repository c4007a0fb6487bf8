/// What a GPU did, in the scenario's words: its record as a trace, its hang as a report.

#pragma once

#include <string>
#include <vector>

#include "hw/launch/device_run.hpp"
#include "sim/run/simulate.hpp"
#include "sim/trace/trace.hpp"

namespace warptwin::sim {

/// The record of a run, as a trace. `device`: what it ran on.
Trace trace_of(const ScenarioEntry& scenario,
               const ParameterSet& parameters,
               const hw::DeviceRun& run,
               const std::string& device);

/// What a run of the scenario needs that only sm_90a has, and nothing emulates; empty: nothing.
std::string needs_of_hopper(const ScenarioEntry& scenario, const ParameterSet& parameters);

/// Where the loads of a launch write, by the barrier that counts them, of each rank: what a wait is
/// asked to record. From a run of the simulator.
std::vector<hw::DataRegion> data_regions(const ScenarioEntry& scenario,
                                         const ParameterSet& parameters);

/// A barrier that warps wait for, or what else.
struct HangReport {
  /// The root of who waits for whom, "ring.full[2] of cta 0": what nobody can supply any more, or
  /// where all wait for each other, the first.
  std::string object;
  std::vector<Blocked> blocked;  // the first ones; their sites are in `run`
  std::string text;  // who waits for what, who owes it, as `warptwin run` reports a deadlock
};

/// What the warps of a run that was given up wait for. `record` is its trace, or one without
/// operations where nothing was recorded: which phase a barrier is in is known from it alone.
HangReport hang_report(const ScenarioEntry& scenario,
                       const ParameterSet& parameters,
                       const hw::DeviceRun& run,
                       const Trace& record);

}  // namespace warptwin::sim
