/// `warptwin trace` and `warptwin compare`.

#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "sim/run/simulate.hpp"
#include "sim/trace/trace.hpp"

namespace warptwin::sim {

/// A run of the simulator, as a trace. `result` receives the run.
Trace simulated_trace(const ScenarioEntry& scenario,
                      const ParameterSet& parameters,
                      RunOptions options,
                      RunResult& result);

enum class CompareVerdict { kAgrees, kDiffers, kIncomplete };

/// Compares the traces in two files, and writes what it found. Throws ConfigError for files that
/// are no traces, or of different launches.
CompareVerdict compare_files(const std::vector<std::string>& paths, bool json, std::ostream& out);

}  // namespace warptwin::sim
