#include "sim/run/simulate.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

namespace warptwin::sim {

namespace {

TensorMapState decode_map(const TensorMapSpec& spec,
                          const TensorSpec& tensor,
                          GlobalAddress address) {
  TensorMapState map;
  map.tensor = tensor.name;
  map.address = address.value;
  map.rank = 2;
  map.element_bytes = bytes_of(tensor.element);
  map.extent[0] = tensor.columns;
  map.extent[1] = tensor.rows;
  map.stride_bytes[0] = map.element_bytes;
  map.stride_bytes[1] = tensor.pitch_bytes;
  map.box[0] = spec.box_columns;
  map.box[1] = spec.box_rows;
  map.swizzle = spec.swizzle;
  return map;
}

// Draws without std::uniform_real_distribution, whose values differ between libraries.
std::vector<float> draw(const TensorSpec& spec, std::uint64_t seed) {
  std::mt19937_64 random{seed};
  std::vector<float> values(std::size_t{spec.rows} * spec.columns);
  for (float& value : values) {
    value = static_cast<float>(static_cast<double>(random() >> 40) / double{1 << 23} - 1.0);
  }
  return values;
}

void upload(GlobalMemory& memory, GlobalAddress address, HostTensor& tensor) {
  const TensorSpec& spec = tensor.spec;
  const std::uint32_t size = bytes_of(spec.element);
  std::byte* base = memory.at(address.value, spec.bytes());
  for (std::uint32_t row = 0; row < spec.rows; ++row) {
    for (std::uint32_t column = 0; column < spec.columns; ++column) {
      const std::uint32_t bits = encode(spec.element, tensor.at(row, column));
      tensor.at(row, column) = decode(spec.element, bits);  // what the kernel will see
      std::memcpy(
          base + std::size_t{row} * spec.pitch_bytes + std::size_t{column} * size, &bits, size);
    }
  }
}

void download(GlobalMemory& memory, GlobalAddress address, HostTensor& tensor) {
  const TensorSpec& spec = tensor.spec;
  const std::uint32_t size = bytes_of(spec.element);
  const std::byte* base = memory.at(address.value, spec.bytes());
  for (std::uint32_t row = 0; row < spec.rows; ++row) {
    for (std::uint32_t column = 0; column < spec.columns; ++column) {
      std::uint32_t bits = 0;
      std::memcpy(
          &bits, base + std::size_t{row} * spec.pitch_bytes + std::size_t{column} * size, size);
      tensor.at(row, column) = decode(spec.element, bits);
    }
  }
}

// Half a unit in the last place of the output's format, doubled for the rounding of the inputs'
// sums.
double relative_bound(ElementType element) {
  switch (element) {
    case ElementType::kBf16:
      return std::ldexp(1.0, -8);
    case ElementType::kF16:
      return std::ldexp(1.0, -11);
    case ElementType::kF8E4M3:
      return std::ldexp(1.0, -4);
    case ElementType::kF8E5M2:
      return std::ldexp(1.0, -3);
    default:
      return std::ldexp(1.0, -18);
  }
}

Comparison compare(const HostTensor& got, const HostTensor& expected) {
  Comparison result;
  result.tensor = got.spec.name;
  result.relative = relative_bound(got.spec.element);
  double largest = 0;
  for (const float value : expected.values) {
    largest = std::max(largest, std::abs(static_cast<double>(value)));
  }
  // fp32 sums of terms that cancel: an error relative to the largest result, not to this one.
  result.absolute = largest * std::ldexp(1.0, -16);
  for (std::size_t i = 0; i < got.values.size(); ++i) {
    const double a = static_cast<double>(got.values[i]);
    const double b = static_cast<double>(expected.values[i]);
    const double bound = result.relative * std::abs(b) + result.absolute;
    const double error = std::abs(a - b);
    // A NaN is wrong wherever the reference has none; an exact result is right whatever the bound.
    const double share = a == b ? 0.0 : std::isnan(error) || bound == 0 ? HUGE_VAL : error / bound;
    if (i == 0 || share > result.worst) {
      result.worst = share;
      result.error = error;
      result.row = static_cast<std::uint32_t>(i / got.spec.columns);
      result.column = static_cast<std::uint32_t>(i % got.spec.columns);
      result.got = a;
      result.expected = b;
    }
  }
  return result;
}

RunEnd end_of(Ending ending) {
  switch (ending) {
    case Ending::kDone:
      return RunEnd::kDone;
    case Ending::kDeadlock:
      return RunEnd::kDeadlock;
    case Ending::kLivelock:
      return RunEnd::kLivelock;
    case Ending::kTrapped:
      return RunEnd::kTrapped;
    case Ending::kStepBound:
      break;
  }
  return RunEnd::kStepBound;
}

HostTensor input_of(const TensorSpec& spec, std::size_t index, const RunOptions& options) {
  HostTensor tensor{spec, {}};
  const auto given = options.inputs.find(spec.name);
  if (spec.use != TensorUse::kInput) {
    tensor.values.assign(std::size_t{spec.rows} * spec.columns, 0.0F);
  } else if (given == options.inputs.end()) {
    tensor.values = draw(spec, options.input_seed * 1000 + index);
  } else if (given->second.size() != std::size_t{spec.rows} * spec.columns) {
    throw ConfigError("input '" + std::string{spec.name} + "' has " +
                      std::to_string(given->second.size()) +
                      " elements, and the parameters ask for " + std::to_string(spec.rows) + " x " +
                      std::to_string(spec.columns));
  } else {
    tensor.values = given->second;
  }
  return tensor;
}

void check_input_names(const Workload& workload, const RunOptions& options) {
  for (const auto& [name, values] : options.inputs) {
    std::string known;
    bool found = false;
    for (const TensorSpec& spec : workload.tensors) {
      if (spec.use == TensorUse::kInput) {
        found = found || name == spec.name;
        known += (known.empty() ? "" : ", ") + std::string{spec.name};
      }
    }
    if (!found) {
      throw ConfigError("there is no input '" + name + "'; there are: " + known);
    }
  }
}

// The detectors, and whoever else looks on.
class BothSinks : public EventSink {
 public:
  BothSinks(EventSink* first, EventSink* second) : first_{first}, second_{second} {}
  void on_event(const Event& event) override {
    first_->on_event(event);
    second_->on_event(event);
  }
  /// Null, one of them where the other is null, or this.
  EventSink* only() { return first_ == nullptr ? second_ : second_ == nullptr ? first_ : this; }

 private:
  EventSink* first_;
  EventSink* second_;
};

}  // namespace

bool RunResult::clean(bool strict) const {
  const bool found = std::any_of(findings.begin(), findings.end(), [&](const Finding& finding) {
    return strict || finding.severity >= Severity::kError;
  });
  const bool agrees = std::all_of(
      comparisons.begin(), comparisons.end(), [](const Comparison& c) { return c.agrees(); });
  const bool ended = end == RunEnd::kDone || (accepted != 0 && end != RunEnd::kStepBound);
  return ended && !found && agrees;
}

std::uint32_t resident_ctas(const Workload& workload, std::uint32_t limit) {
  const std::uint32_t allowed = workload.resident_clusters == 0
                                    ? workload.clusters
                                    : std::min(workload.resident_clusters, workload.clusters);
  return workload.cluster_size * std::clamp(limit / workload.cluster_size, 1U, allowed);
}

LaunchConfig launch_config(const ScenarioEntry& scenario,
                           const ParameterSet& parameters,
                           const RunOptions& options) {
  const Workload workload = scenario.workload(parameters);
  const Symbols symbols = scenario.symbols(parameters);
  LaunchConfig config;
  config.clusters = workload.clusters;
  config.cluster_size = workload.cluster_size;
  config.warps_per_cta = 0;
  for (const RoleWarps& row : symbols.roles) {
    config.warps_per_cta += row.warps;
  }
  config.shared_bytes = kSharedBase + symbols.bytes;
  config.registers_per_thread = workload.registers_per_thread;
  config.resident_clusters = resident_ctas(workload, options.resident_ctas) / workload.cluster_size;
  config.moves_data = options.moves_data;
  config.tries_fail = options.schedule.tries_fail;
  if (options.schedule.tiles != 0) {
    config.resident_clusters = 1;
    config.clc_successes_max = options.schedule.tiles - 1;
  }
  config.clusters_begun_max = options.clusters_begun_max;
  config.clc_from_the_end = options.clc_from_the_end;
  config.rules = options.rules.machine;
  return config;
}

RunResult simulate(const ScenarioEntry& scenario,
                   const ParameterSet& parameters,
                   const RunOptions& options) {
  const Workload workload = scenario.workload(parameters);
  const Symbols symbols = scenario.symbols(parameters);
  check_input_names(workload, options);

  GlobalMemory memory;
  std::vector<GlobalAddress> addresses;
  std::vector<HostTensor> tensors;
  for (const TensorSpec& spec : workload.tensors) {
    // Scratch holds control words: it is there even when no tile data moves.
    const bool holds = options.moves_data || spec.use == TensorUse::kScratch;
    addresses.push_back({memory.add(spec.name, spec.bytes(), holds)});
    if (options.moves_data) {
      tensors.push_back(input_of(spec, tensors.size(), options));
      upload(memory, addresses.back(), tensors.back());
    }
  }
  std::vector<SimTensorMap> maps;
  for (const TensorMapSpec& spec : workload.maps) {
    maps.push_back({static_cast<std::uint32_t>(memory.maps.size())});
    memory.maps.push_back(decode_map(spec, workload.tensors[spec.tensor], addresses[spec.tensor]));
  }

  Gpu gpu{launch_config(scenario, parameters, options), memory, symbols};
  std::optional<DetectorSet> detectors;
  if (options.detect) {
    detectors.emplace(options.rules, gpu.config(), symbols);
  }
  BothSinks both{detectors ? &*detectors : nullptr, options.observer};
  gpu.set_sink(both.only());
  RunResult result;
  const WarpBody body = scenario.body(parameters, maps, addresses);
  if (options.engine) {
    result.stats = options.engine(gpu, body);
  } else {
    const std::unique_ptr<Scheduler> scheduler =
        options.scheduler ? options.scheduler(gpu) : make_scheduler(options.schedule);
    result.stats = run_functional(
        gpu, body, *scheduler, options.limits, options.record ? &result.choices : nullptr);
  }
  result.end = end_of(result.stats.ending);
  result.operations = gpu.operations();
  if (detectors) {
    detectors->at_end(gpu, result.end);
    result.findings = detectors->take_findings();
  }
  if (options.moves_data) {
    std::vector<HostTensor> expected = tensors;
    if (result.end == RunEnd::kDone) {
      scenario.reference(parameters, expected);
    }
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      if (tensors[i].spec.use == TensorUse::kOutput) {
        download(memory, addresses[i], tensors[i]);
        if (result.end == RunEnd::kDone) {
          result.comparisons.push_back(compare(tensors[i], expected[i]));
        }
      }
    }
    result.tensors = std::move(tensors);
  }
  return result;
}

}  // namespace warptwin::sim
