#include "sim/cli/traces.hpp"

#include <ostream>

#include "sim/compare/compare.hpp"
#include "sim/compare/order.hpp"
#include "sim/report/json.hpp"
#include "sim/trace/recorder.hpp"
#include "sim/trace/trace_file.hpp"

namespace warptwin::sim {

namespace {

const char* word_of(RunEnd end) {
  switch (end) {
    case RunEnd::kDone:
      return "done";
    case RunEnd::kDeadlock:
      return "deadlock";
    case RunEnd::kLivelock:
      return "livelock";
    case RunEnd::kTrapped:
      return "trapped";
    case RunEnd::kStepBound:
      return "stopped";
  }
  return "";
}

Trace read(const std::string& path) {
  try {
    return read_trace_file(path);
  } catch (const TraceError& error) {
    throw ConfigError(error.what());
  }
}

Json json_of(const TraceComparison& comparison) {
  Json json{{"agrees", comparison.agrees()},
            {"complete", comparison.complete},
            {"operations", comparison.operations},
            {"phases", comparison.phases},
            {"orders", comparison.orders},
            {"notes", comparison.notes},
            {"mismatches", Json::array()}};
  for (const Mismatch& mismatch : comparison.mismatches) {
    json["mismatches"].push_back({{"where", mismatch.where},
                                  {"first", mismatch.first},
                                  {"second", mismatch.second},
                                  {"before", mismatch.before}});
  }
  return json;
}

}  // namespace

Trace simulated_trace(const ScenarioEntry& scenario,
                      const ParameterSet& parameters,
                      RunOptions options,
                      RunResult& result) {
  const Symbols symbols = scenario.symbols(parameters);
  const LaunchConfig config = launch_config(scenario, parameters, options);
  Trace trace = trace_of_launch(config, symbols);
  trace.source = "simulator";
  trace.machine = options.schedule.to_string();
  trace.scenario = scenario.info->name;
  trace.parameters = parameters.to_string();
  trace.seed = options.input_seed;
  const Trace empty = trace;
  for (const bool whole_grid : {false, true}) {
    trace = empty;
    TraceRecorder recorder{trace, symbols};
    OrderRecorder order{trace, recorder, config, whole_grid};
    options.observer = &order;
    result = simulate(scenario, parameters, options);
    trace.ending = word_of(result.end);
    order.at_end();
    if (!order.needs_whole_grid()) {
      break;
    }
  }
  return trace;
}

CompareVerdict compare_files(const std::vector<std::string>& paths, bool json, std::ostream& out) {
  if (paths.size() != 2) {
    throw ConfigError(
        "compare takes two traces, as in: warptwin compare simulated.trace h200.trace");
  }
  const Trace first = read(paths[0]);
  const Trace second = read(paths[1]);
  const TraceComparison comparison = compare_traces(first, second);
  if (json) {
    out << json_of(comparison).dump(2) << "\n";
  } else {
    out << text_of(comparison, first.source, second.source);
  }
  return !comparison.agrees()  ? CompareVerdict::kDiffers
         : comparison.complete ? CompareVerdict::kAgrees
                               : CompareVerdict::kIncomplete;
}

}  // namespace warptwin::sim
