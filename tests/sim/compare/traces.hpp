// Traces of scenarios, for tests of what compares them.

#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "common/kernel/scenario.hpp"

#include "sim/cli/traces.hpp"

namespace warptwin::sim::compare_test {

inline const ScenarioEntry& entry(const std::string& name) {
  static const std::vector<ScenarioEntry> all = scenario_list();
  for (const ScenarioEntry& scenario : all) {
    if (name == scenario.info->name) {
      return scenario;
    }
  }
  throw std::runtime_error("no scenario " + name);
}

struct Settings {
  std::string name;
  std::vector<std::pair<std::string, std::int64_t>> set;
};

inline Trace trace(const Settings& settings,
                   const std::string& schedule,
                   EventSink* observer = nullptr) {
  const ScenarioEntry& scenario = entry(settings.name);
  ParameterSet parameters{scenario.parameters};
  for (const auto& [name, value] : settings.set) {
    parameters.set(name, value);
  }
  RunOptions options;
  options.moves_data = false;
  options.detect = false;
  options.schedule = ScheduleSpec::parse(schedule);
  options.observer = observer;
  RunResult result;
  return simulated_trace(scenario, parameters, options, result);
}

/// A trace as a GPU would have recorded it.
inline Trace recorded(const Settings& settings, const std::string& schedule) {
  Trace seen = trace(settings, schedule);
  seen.source = "hardware";
  seen.clock = TraceClock::kCycles;
  seen.ordered = false;
  for (WarpTrace& warp : seen.warps) {
    warp.after.clear();
  }
  return seen;
}

/// With what it computed.
inline Trace with_values(const Settings& settings,
                         const std::string& schedule,
                         std::uint64_t seed = 1) {
  const ScenarioEntry& scenario = entry(settings.name);
  ParameterSet parameters{scenario.parameters};
  for (const auto& [name, value] : settings.set) {
    parameters.set(name, value);
  }
  RunOptions options;
  options.detect = false;
  options.input_seed = seed;
  options.schedule = ScheduleSpec::parse(schedule);
  RunResult result;
  return simulated_trace(scenario, parameters, options, result);
}

inline const Settings kSmallGemm{"gemm", {{"m", 160}, {"n", 128}, {"k", 192}}};

}  // namespace warptwin::sim::compare_test
