#include "sim/run/budget.hpp"

#include <algorithm>
#include <set>

#include "sim/run/simulate.hpp"

namespace warptwin::sim {

namespace {

/// Notes tensor memory and named barriers as they are used.
class UseRecorder : public EventSink {
 public:
  void on_event(const Event& event) override {
    if (event.op == Op::kTcgen05Alloc && event.step == Step::kDone) {
      live_ += event.cta == 0 ? event.as<payload::TmemAllocation>().columns : 0;
      columns = std::max(columns, live_);
    } else if (event.op == Op::kTcgen05Dealloc && event.cta == 0) {
      live_ -= std::min(live_, event.as<payload::TmemRegion>().columns);
    } else if (event.op == Op::kBarSync || event.op == Op::kBarArrive) {
      named.insert(event.address);
    }
  }
  std::uint32_t columns = 0;
  std::set<std::uint32_t> named;

 private:
  std::uint32_t live_ = 0;
};

// One cluster after the other: the first alone shows what a CTA uses.
void watch_use(const ScenarioEntry& scenario, const ParameterSet& parameters, UseRecorder& use) {
  RunOptions options;
  options.detect = false;
  options.moves_data = false;
  options.resident_ctas = 1;
  options.limits.steps_max = 100'000;
  options.observer = &use;
  simulate(scenario, parameters, options);
}

std::uint32_t barriers_of(const UseRecorder& use) {
  return use.named.empty() ? 0 : *use.named.rbegin() + 1;
}

std::uint32_t fitting_stages(const ScenarioEntry& scenario, const ParameterSet& parameters) {
  const auto stages =
      std::find_if(scenario.parameters.begin(), scenario.parameters.end(), [](const Parameter& p) {
        return std::string_view{p.name} == "stages";
      });
  if (stages == scenario.parameters.end()) {
    return 0;
  }
  std::uint32_t fitting = 0;
  for (std::int64_t count = stages->minimum; count <= stages->maximum; ++count) {
    ParameterSet candidate = parameters;
    candidate.set("stages", count);
    try {
      if (scenario.symbols(candidate).bytes > kSharedBytesPerCtaMax) {
        break;
      }
    } catch (const ConfigError&) {  // it refuses by itself what does not fit
      break;
    }
    fitting = static_cast<std::uint32_t>(count);
  }
  return fitting;
}

}  // namespace

Occupancy occupancy(const ScenarioEntry& scenario,
                    const ParameterSet& parameters,
                    const SmLimits& limits) {
  const Launch launch = scenario.launch(parameters);
  const Workload& workload = launch.workload;
  CtaNeeds needs{launch.symbols.bytes,
                 launch.threads_per_cta(),
                 workload.registers_per_thread,
                 kNamedBarriers};
  const std::uint32_t least = occupancy(needs, limits).ctas_per_sm;
  needs.named_barriers = 0;
  const std::uint32_t room = limits.sms / workload.cluster_size * least;
  if (occupancy(needs, limits).ctas_per_sm > least && workload.clusters > room) {
    UseRecorder use;
    watch_use(scenario, parameters, use);
    needs.named_barriers = barriers_of(use);
  }
  return occupancy(needs, limits);
}

Budget budget(const ScenarioEntry& scenario,
              const ParameterSet& parameters,
              const SmLimits& limits) {
  const Launch launch = scenario.launch(parameters);
  const Workload& workload = launch.workload;
  Budget budget;
  for (const Region& region : launch.symbols.regions) {
    const std::string name = region.part.empty() ? region.owner : region.owner + "." + region.part;
    budget.regions.push_back({name, region.count, region.count * region.element_bytes});
  }
  budget.shared_bytes = launch.symbols.bytes;
  budget.threads = launch.threads_per_cta();
  budget.registers = registers_at_start(workload) * budget.threads;
  budget.registers_known = workload.registers_per_thread != 0;
  budget.ctas = workload.clusters * workload.cluster_size;
  budget.cluster_size = workload.cluster_size;

  UseRecorder use;
  watch_use(scenario, parameters, use);
  budget.tmem_columns = use.columns;
  budget.named_barriers.assign(use.named.begin(), use.named.end());

  const Occupancy fitting = occupancy(
      {budget.shared_bytes, budget.threads, registers_at_start(workload), barriers_of(use)},
      limits);
  budget.ctas_per_sm = fitting.ctas_per_sm;
  budget.limited_by = fitting.limited_by;
  if (use.columns != 0 && kTmemColumns / use.columns < budget.ctas_per_sm) {
    budget.ctas_per_sm = kTmemColumns / use.columns;
    budget.limited_by = "tensor memory";
  }
  budget.waves =
      budget.ctas_per_sm == 0 ? 0 : ceil_div(budget.ctas, limits.sms * budget.ctas_per_sm);
  budget.stages_fitting = fitting_stages(scenario, parameters);
  return budget;
}

}  // namespace warptwin::sim
