/// `warptwin trace` and `warptwin compare`.

#pragma once

#include <string>
#include <vector>

#include "sim/compare/compare.hpp"
#include "sim/report/json.hpp"
#include "sim/run/time/timing.hpp"
#include "sim/trace/trace.hpp"

namespace warptwin::sim {

/// A run of the functional engine, as a trace: with the order of its proof, and, where data moves,
/// with what its copies brought and its outputs. `result` receives the run.
Trace simulated_trace(const ScenarioEntry& scenario,
                      const ParameterSet& parameters,
                      RunOptions options,
                      RunResult& result);

/// A run in time on a chip, as a trace: in cycles; with data as above. Throws ConfigError.
Trace timed_trace(const ScenarioEntry& scenario,
                  const ParameterSet& parameters,
                  const Chip& chip,
                  TimingOptions options,
                  TimingResult& result);

/// The outputs among the `tensors` of a run, and what their comparison is bounded by: how many
/// products an element adds up, from the workload's flops or else the widest input, and the largest
/// sum of their absolute values, from the reference of the absolute inputs.
void add_outputs(Trace& trace,
                 const ScenarioEntry& scenario,
                 const ParameterSet& parameters,
                 const std::vector<HostTensor>& tensors);

enum class CompareVerdict { kAgrees, kDiffers, kIncomplete };

Json json_of(const TraceComparison& comparison);

struct ComparedFiles {
  Trace first;
  Trace second;
  TraceComparison comparison;
  CompareVerdict verdict() const;
};

/// Compares the traces in two files. Throws ConfigError for files that are no traces, or of
/// different launches.
ComparedFiles compare_files(const std::vector<std::string>& paths);

}  // namespace warptwin::sim
