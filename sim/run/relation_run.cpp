#include "sim/run/relation_run.hpp"

namespace warptwin::sim {

RelationInput relation_input(const ScenarioEntry& scenario,
                             const ParameterSet& parameters,
                             const RunOptions& options) {
  RunOptions bare = options;
  bare.detect = false;
  bare.moves_data = true;
  bare.record = false;
  bare.engine = nullptr;
  bare.scheduler = nullptr;
  RelationInput input;
  input.launch = launch_config(scenario, parameters, bare);
  const Workload workload = scenario.workload(parameters);
  if (!workload.falls_back.empty()) {
    throw ConfigError("the relation's oracle knows of clusters of one size");
  }
  GlobalMemory memory;
  std::vector<std::uint64_t> addresses;
  for (const TensorSpec& spec : workload.tensors) {
    addresses.push_back(memory.add(spec.name, spec.bytes(), false));
  }
  for (const std::uint32_t tensor : workload.from_grid_before) {
    const std::uint64_t begin = addresses[tensor];
    input.launch.prerequisite_writes.emplace_back(begin, begin + workload.tensors[tensor].bytes());
  }
  for (const std::uint32_t tensor : scenario.read_by_grid_before) {
    const std::uint64_t begin = addresses[tensor];
    input.launch.prerequisite_reads.emplace_back(begin, begin + workload.tensors[tensor].bytes());
  }
  input.run = [scenario, parameters, bare](const ScheduleSpec& schedule, EventSink& sink) {
    RunOptions run = bare;
    run.schedule = schedule;
    run.observer = &sink;
    return simulate(scenario, parameters, run).stats.ending;
  };
  return input;
}

}  // namespace warptwin::sim
