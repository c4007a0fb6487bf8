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

/// What a run of the scenario needs that sm_90 has not and nothing emulates; empty: nothing.
std::string needs_of_blackwell(const ScenarioEntry& scenario, const ParameterSet& parameters);

/// A barrier that warps wait for, or what else.
struct HangReport {
  std::string object;  // what most speaks for the fault: "ring.full[2] of cta 0"
  std::string text;    // who waits for what, who owes it, as `warptwin run` reports a deadlock
};

/// What the warps of a run that was given up wait for.
HangReport hang_report(const ScenarioEntry& scenario,
                       const ParameterSet& parameters,
                       const hw::DeviceRun& run);

}  // namespace warptwin::sim
