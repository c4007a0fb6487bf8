#include "sim/cli/traces.hpp"

#include <algorithm>
#include <cmath>

#include "sim/compare/order.hpp"
#include "sim/trace/recorder.hpp"
#include "sim/trace/trace_file.hpp"

namespace warptwin::sim {

namespace {

Trace read(const std::string& path) {
  try {
    return read_trace_file(path);
  } catch (const TraceError& error) {
    throw ConfigError(error.what());
  }
}

Json json_of(const Interval& interval) {
  return {{"first", interval.first}, {"second", interval.second}, {"ratio", interval.ratio()}};
}

Json json_of(const TimeComparison& times) {
  Json json{{"roles", Json::array()}, {"steps", Json::array()}};
  for (const RoleInterval& role : times.roles) {
    json["roles"].push_back(
        {{"role", role.role}, {"warps", role.warps}, {"cycles", json_of(role.total)}});
  }
  for (const StepTime& step : times.steps) {
    json["steps"].push_back({{"role", step.role},
                             {"step", step.step},
                             {"count", step.count},
                             {"cycles", json_of(step.total)}});
  }
  return json;
}

// What the trace of any run of the simulator says of its launch.
Trace trace_of(const ScenarioEntry& scenario,
               const ParameterSet& parameters,
               const LaunchConfig& config,
               const Symbols& symbols) {
  Trace trace = trace_of_launch(config, symbols);
  trace.source = "simulator";
  trace.scenario = scenario.info->name;
  trace.parameters = parameters.to_string();
  return trace;
}

}  // namespace

Trace simulated_trace(const ScenarioEntry& scenario,
                      const ParameterSet& parameters,
                      RunOptions options,
                      RunResult& result) {
  const Symbols symbols = scenario.symbols(parameters);
  const LaunchConfig config = launch_config(scenario, parameters, options);
  Trace trace;
  for (const bool whole_grid : {false, true}) {
    trace = trace_of(scenario, parameters, config, symbols);
    trace.machine = options.schedule.to_string();
    trace.seed = options.input_seed;
    TraceRecorder recorder{trace, symbols};
    OrderRecorder order{trace, recorder, config, whole_grid};
    options.observer = &order;
    if (options.moves_data) {
      options.on_machine = [&](Gpu& gpu) { recorder.note_data_of(gpu); };
    }
    result = simulate(scenario, parameters, options);
    trace.ending = name_of(result.end);
    order.at_end();
    if (!order.needs_whole_grid()) {
      break;
    }
  }
  add_outputs(trace, scenario, parameters, result.tensors);
  return trace;
}

Trace timed_trace(const ScenarioEntry& scenario,
                  const ParameterSet& parameters,
                  const Chip& chip,
                  TimingOptions options,
                  TimingResult& result) {
  const Symbols symbols = scenario.symbols(parameters);
  Trace trace =
      trace_of(scenario, parameters, launch_config(scenario, parameters, options.run), symbols);
  trace.source = "timed";
  trace.machine = chip.name;
  trace.clock = TraceClock::kCycles;
  trace.seed = options.run.input_seed;
  TraceRecorder recorder{trace, symbols};
  options.run.observer = &recorder;
  if (options.run.moves_data) {
    options.run.on_machine = [&](Gpu& gpu) { recorder.note_data_of(gpu); };
  }
  result = time_scenario(scenario, parameters, chip, options);
  trace.ending = name_of(result.run.end);
  add_outputs(trace, scenario, parameters, result.run.tensors);
  return trace;
}

void add_outputs(Trace& trace,
                 const ScenarioEntry& scenario,
                 const ParameterSet& parameters,
                 const std::vector<HostTensor>& tensors) {
  if (tensors.empty() || trace.ending != "done") {
    return;
  }
  std::vector<HostTensor> sums = tensors;
  double elements = 0;
  std::uint32_t widest = 0;
  for (HostTensor& tensor : sums) {
    for (float& value : tensor.values) {
      value = std::abs(value);
    }
    const bool is_output = tensor.spec.use == TensorUse::kOutput;
    elements += is_output ? static_cast<double>(tensor.values.size()) : 0.0;
    widest = std::max(widest, is_output ? 0 : tensor.spec.columns);
  }
  if (scenario.reference != nullptr) {
    scenario.reference(parameters, sums);
  }
  const auto flops = static_cast<double>(scenario.workload(parameters).flops);
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const HostTensor& tensor = tensors[i];
    if (tensor.spec.use != TensorUse::kOutput) {
      continue;
    }
    TraceOutput output{
        tensor.spec.name,
        tensor.spec.element,
        tensor.spec.rows,
        tensor.spec.columns,
        tensor.spec.pitch_bytes,
        flops > 0 ? static_cast<std::uint32_t>(std::ceil(flops / 2 / elements)) : widest,
        0,
        tensor.values};
    for (const float sum : sums[i].values) {
      output.magnitude = std::max(output.magnitude, static_cast<double>(std::abs(sum)));
    }
    trace.outputs.push_back(std::move(output));
  }
}

Json json_of(const TraceComparison& comparison) {
  Json json{{"agrees", comparison.agrees()},
            {"complete", comparison.complete},
            {"operations", comparison.operations},
            {"phases", comparison.phases},
            {"orders", comparison.orders},
            {"loads", comparison.loads},
            {"tokens", comparison.tokens},
            {"values", Json::array()},
            {"time", json_of(comparison.times)},
            {"notes", comparison.notes},
            {"mismatches", Json::array()}};
  for (const ValueComparison& values : comparison.values) {
    json["values"].push_back({{"tensor", values.name},
                              {"elements", values.elements},
                              {"same", values.same},
                              {"beyond", values.beyond},
                              {"worst_share", values.worst},
                              {"relative", values.relative},
                              {"absolute", values.absolute}});
  }
  for (const Mismatch& mismatch : comparison.mismatches) {
    json["mismatches"].push_back({{"where", mismatch.where},
                                  {"first", mismatch.first},
                                  {"second", mismatch.second},
                                  {"before", mismatch.before}});
  }
  return json;
}

CompareVerdict ComparedFiles::verdict() const {
  return !comparison.agrees()  ? CompareVerdict::kDiffers
         : comparison.complete ? CompareVerdict::kAgrees
                               : CompareVerdict::kIncomplete;
}

ComparedFiles compare_files(const std::vector<std::string>& paths) {
  if (paths.size() != 2) {
    throw ConfigError(
        "compare takes two traces, as in: warptwin compare simulated.trace h200.trace");
  }
  ComparedFiles files{read(paths[0]), read(paths[1]), {}};
  files.comparison = compare_traces(files.first, files.second);
  return files;
}

}  // namespace warptwin::sim
