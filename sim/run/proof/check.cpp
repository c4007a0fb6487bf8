#include "sim/run/proof/check.hpp"

#include <algorithm>

namespace warptwin::sim {

std::string CheckResult::strength() const {
  return std::to_string(schedules) + " schedules (1 round robin, 1 lazy, " +
         std::to_string(starving) + " starving, " + std::to_string(random) + " random, " +
         std::to_string(pct) + " pct): sampled, not proved";
}

CheckResult check(const ScenarioEntry& scenario,
                  const ParameterSet& parameters,
                  const CheckOptions& options) {
  std::vector<ScheduleSpec> schedules(1);
  const Launch launch = scenario.launch(parameters);
  const Workload& workload = launch.workload;
  const std::uint32_t warps = launch.warps_per_cta();
  CheckResult result;
  ScheduleSpec lazy;
  lazy.strategy = Strategy::kLazy;
  const Agents agents{warps * resident_ctas(workload, options.run.resident_ctas)};
  lazy.victim = agents.tensor_queue(0);
  schedules.push_back(lazy);
  for (WarpSlot victim = 0; victim < warps * workload.cluster_size; ++victim) {
    ScheduleSpec spec;
    spec.strategy = Strategy::kStarve;
    spec.victim = Agents::warp(victim);
    schedules.push_back(spec);
    ++result.starving;
  }
  for (std::uint32_t i = 0; i < options.random; ++i) {
    ScheduleSpec spec;
    spec.strategy = Strategy::kRandom;
    spec.seed = options.seed + i;
    schedules.push_back(spec);
    ++result.random;
  }
  for (std::uint32_t i = 0; i < options.pct; ++i) {
    ScheduleSpec spec;
    spec.strategy = Strategy::kPct;
    spec.seed = options.seed + i;
    spec.depth = options.pct_depth;
    schedules.push_back(spec);
    ++result.pct;
  }
  const auto total = static_cast<std::uint32_t>(schedules.size());
  for (ScheduleSpec& schedule : schedules) {
    if (options.progress) {
      options.progress(result.schedules, total);
    }
    RunOptions run = options.run;
    // Data once: it depends on no schedule that the detectors pass.
    run.moves_data = options.run.moves_data && (options.data_decides || result.schedules == 0);
    run.schedule = schedule;
    RunResult one = simulate(scenario, parameters, run);
    if (result.schedules == 0) {
      result.comparisons = one.comparisons;
      // Where priorities change is spread over the length of a fair run; one that a fault cut short
      // does not tell it.
      if (one.end == Ending::kDone) {
        for (ScheduleSpec& later : schedules) {
          later.length = std::max<std::uint64_t>(one.stats.steps, 1);
        }
      }
    }
    ++result.schedules;
    result.operations += one.operations;
    result.bound_hit = result.bound_hit || one.stopped();
    for (const Finding& finding : one.findings) {
      result.ids.insert(finding.info->id);
    }
    if (options.accepts) {
      one.accepted = std::erase_if(one.findings, options.accepts);
      result.accepted += one.accepted;
    }
    if (one.shows_defect()) {
      if (result.failing++ == 0) {
        result.failing_schedule = schedule;
        result.first_failing = std::move(one);
      }
      if (!options.keep_going) {
        return result;
      }
    } else if (!one.findings.empty() && result.warnings.findings.empty()) {
      result.warning_schedule = schedule;
      result.warnings = std::move(one);
    }
  }
  return result;
}

}  // namespace warptwin::sim
