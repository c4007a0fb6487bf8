#include "sim/run/time/timing.hpp"

#include <algorithm>
#include <cmath>

#include "sim/run/budget.hpp"

namespace warptwin::sim {

namespace {

// A unit that is busier than this is what the time is bound by.
constexpr double kSaturated = 0.85;

double input_bytes(const Workload& workload) {
  double bytes = 0;
  for (const TensorSpec& spec : workload.tensors) {
    bytes += spec.use == TensorUse::kInput ? static_cast<double>(spec.bytes()) : 0.0;
  }
  return bytes;
}

// The clock that the power cap leaves, at most the one asked for.
double held_clock(const Chip& chip, const TimedStats& stats) {
  if (chip.power_kappa <= 0 || stats.tensor_share <= 0) {
    return stats.clock;
  }
  return std::min(stats.clock, std::cbrt(chip.power_kappa / stats.tensor_share));
}

// The busiest unit, or, where none is saturated, what the role that ends last waits for.
std::string binding(const TimedStats& stats) {
  const UnitUse* busiest = nullptr;
  for (const UnitUse& unit : stats.units) {
    if (busiest == nullptr || unit.mean > busiest->mean + 1e-9) {
      busiest = &unit;
    }
  }
  if (busiest != nullptr && busiest->mean >= kSaturated) {
    return busiest->name;
  }
  const WaitTime* longest = nullptr;
  const RoleTime* role = nullptr;
  for (const RoleTime& one : stats.roles) {
    if (one.role == Role::kMma && !one.waits.empty()) {
      role = &one;
      longest = &one.waits.front();
    }
  }
  if (longest == nullptr) {
    return busiest == nullptr ? "nothing" : "latency; the busiest unit is " + busiest->name;
  }
  return "latency: " + std::string{warptwin::name_of(role->role)} + " waits for " + longest->what;
}

std::string remedy_of(Unit unit) {
  switch (unit) {
    case Unit::kTensorCore:
      return "less work for the tensor core, or a higher clock";
    case Unit::kTmaEngine:
      return "fewer and longer rows to copy: a wider swizzle, multicast";
    case Unit::kSharedRead:
      return "fewer operand bytes a multiplication: a wider MMA, a pair of CTAs, A in tensor "
             "memory";
    case Unit::kSharedWrite:
      return "fewer bytes into shared memory a multiplication: larger tiles";
    case Unit::kTmemPort:
      return "fewer columns of tensor memory to load and store";
    case Unit::kL2:
      return "fewer bytes from L2: larger tiles, multicast";
    case Unit::kL2Link:
      return "fewer bytes from the other half of L2: larger tiles, multicast";
    case Unit::kFma:
    case Unit::kMufu:
      return "less arithmetic on registers, or more warps to do it beside the rest";
    case Unit::kDram:
      return "fewer bytes from DRAM: tiles in an order that finds its inputs in L2";
    default:
      return "a shorter way through: " + std::string{name_of(unit)};
  }
}

std::string percent(double share) {
  return std::to_string(std::lround(100 * share)) + " %";
}

// What has to change for the run to end sooner: the unit that most of the path is in, if it is one
// that can be full; else the ring that the path goes round, where its waits cost enough; else the
// longest part.
std::string change_of(const CriticalPath& path) {
  constexpr double kBindingShare = 0.5;
  constexpr double kWorthwhile = 0.03;
  const auto share = [&](const PathPart& part) { return part.cycles / std::max(path.cycles, 1.0); };
  const PathPart* ring = nullptr;
  for (const PathPart& part : path.parts) {
    const auto unit = static_cast<Unit>(part.id);
    if (part.kind == StepKind::kUnit && is_throughput(unit) && share(part) >= kBindingShare) {
      return remedy_of(unit);
    }
    if (part.gain_without >= kWorthwhile &&
        (ring == nullptr || part.gain_without > ring->gain_without)) {
      ring = &part;
    }
  }
  if (ring != nullptr) {
    return "more stages: " + std::to_string(ring->steps) + " times the path waits for " +
           ring->what + ", and without these waits it is " + percent(ring->gain_without) +
           " shorter";
  }
  return path.parts.empty() ? "nothing"
                            : "less of the longest part: " + path.parts.front().what + ", " +
                                  percent(share(path.parts.front())) + " of the path";
}

Occupancy occupancy_on(const ScenarioEntry& scenario,
                       const ParameterSet& parameters,
                       const Chip& chip,
                       std::uint32_t most) {
  const Occupancy fitting = occupancy(scenario, parameters, SmLimits::of(chip));
  if (fitting.ctas_per_sm == 0) {
    throw ConfigError("a CTA needs more of an SM of " + chip.name +
                      " than there is: " + fitting.limited_by + "; 'warptwin show " +
                      scenario.info->name + "' says what it takes");
  }
  return most != 0 && most < fitting.ctas_per_sm ? Occupancy{most, "what was asked for"} : fitting;
}

// A GEMM has one step for some 250,000 of its floating-point operations. With more than one for so
// few of them a kernel does something else.
constexpr std::uint64_t kFlopsAStep = std::uint64_t{1} << 14;

// Of a run of more operations than this the detectors see a sample.
constexpr std::uint64_t kWholeOperations = 30'000;
// So many clusters at a time.
constexpr std::uint32_t kSampledPlaces = 4;

// The first place, the last one, and those between: each half of L2 has some.
std::vector<bool> sampled_of(std::uint32_t places) {
  std::vector<bool> seen(places, false);
  for (std::uint32_t i = 0; i < kSampledPlaces; ++i) {
    seen[std::size_t{i} * (places - 1) / (kSampledPlaces - 1)] = true;
  }
  return seen;
}

// How well the clock of the run is known: one that was asked for, exactly. Under the power cap it
// is the cube root of the cap over the load.
double clock_spread(const Chip& chip, const TimingOptions& options, double held) {
  const double asked = options.clock > 0 ? options.clock : chip.clock;
  if (held < asked) {
    return spread_of(chip, "power_kappa") / 3;
  }
  return options.clock > 0 ? 0 : spread_of(chip, "clock");
}

enum class Watch : std::uint8_t { kAll, kSample };

TimingResult run_once(const ScenarioEntry& scenario,
                      const ParameterSet& parameters,
                      const Chip& chip,
                      const TimingOptions& options,
                      Watch watch) {
  TimingResult result;
  const Workload workload = scenario.workload(parameters);
  TimedOptions timed;
  timed.clock = options.clock;
  timed.l2_holds_inputs = options.l2_warm;
  timed.input_bytes = options.input_bytes > 0 ? options.input_bytes : input_bytes(workload);
  timed.causes = options.path ? options.path_steps : 0;
  timed.over_time = options.over_time;
  timed.operations_max = options.run.limits.steps_max;
  std::vector<AgentSlot> acted;
  timed.acted = options.run.detect && watch == Watch::kAll ? &acted : nullptr;
  result.occupancy = occupancy_on(scenario, parameters, chip, options.ctas_per_sm);
  result.registers_counted = workload.registers_per_thread != 0;
  RunOptions run = options.run;
  run.sms = static_cast<std::uint32_t>(chip.sms);
  const std::uint32_t whole = std::max(1U, run.sms / workload.cluster_size);  // sets of SMs
  const std::uint32_t room = whole * workload.cluster_size * result.occupancy.ctas_per_sm;
  run.resident_ctas = options.resident_ctas == 0 ? room : std::min(options.resident_ctas, room);
  result.resident_ctas = resident_ctas(workload, run.resident_ctas);
  run.engine = [&](Gpu& gpu, const WarpBody& body) {
    if (watch == Watch::kSample) {
      gpu.sample(sampled_of(gpu.config().resident_clusters));
    }
    result.stats = run_timed(gpu, body, chip, timed);
    return RunStats{result.stats.ending, result.stats.operations, 0};
  };
  try {
    result.run = simulate(scenario, parameters, run);
  } catch (const ChipError& error) {
    throw ConfigError(error.what());
  }
  if (result.stats.kinds) {
    result.sample = CheckedSample{
        result.resident_ctas / workload.cluster_size, kSampledPlaces, *result.stats.kinds};
  }
  result.run.choices = std::move(acted);
  result.flops = static_cast<double>(workload.flops);
  result.clock_held = held_clock(chip, result.stats);
  result.microseconds = result.stats.cycles / result.clock_held / 1000.0;
  result.launch_microseconds = chip.launch_us;
  result.binds = binding(result.stats);
  if (result.stats.path) {
    result.change = change_of(*result.stats.path);
    result.uncertainty = uncertainty_of(*result.stats.path,
                                        chip,
                                        result.clock_held,
                                        clock_spread(chip, options, result.clock_held));
  }
  return result;
}

// Clusters that hand over to each other by words that are data are checked together.
bool clusters_may_meet(const Workload& workload) {
  return std::any_of(workload.tensors.begin(), workload.tensors.end(), [](const TensorSpec& one) {
    return one.use == TensorUse::kScratch;
  });
}

}  // namespace

TimingResult time_scenario(const ScenarioEntry& scenario,
                           const ParameterSet& parameters,
                           const Chip& chip,
                           const TimingOptions& asked) {
  const Workload workload = scenario.workload(parameters);
  TimingOptions options = asked;
  if (options.steps_by_work) {
    std::uint64_t& most = options.run.limits.steps_max;
    most = std::max(most, workload.flops / kFlopsAStep);
  }
  const bool may_sample = options.sample && options.run.detect && !options.run.moves_data &&
                          options.run.observer == nullptr && scenario.initial == nullptr &&
                          !clusters_may_meet(workload);
  if (!may_sample) {
    return run_once(scenario, parameters, chip, options, Watch::kAll);
  }
  TimingOptions first = options;
  first.run.limits.steps_max = std::min(options.run.limits.steps_max, kWholeOperations);
  const TimingResult whole = run_once(scenario, parameters, chip, first, Watch::kAll);
  if (whole.run.end != Ending::kStepBound) {
    return whole;
  }
  if (whole.run.findings.empty() && options.run.limits.steps_max > kWholeOperations &&
      whole.resident_ctas / workload.cluster_size > kSampledPlaces) {
    TimingResult sampled = run_once(scenario, parameters, chip, options, Watch::kSample);
    if (sampled.run.end == Ending::kDone && sampled.run.findings.empty()) {
      return sampled;
    }
  }
  return run_once(scenario, parameters, chip, options, Watch::kAll);
}

}  // namespace warptwin::sim
