#include "sim/run/simulate.hpp"

#include <algorithm>
#include <cstring>

#include "common/kernel/inputs.hpp"
#include "common/kernel/tensor_bytes.hpp"

#include "sim/prove/run_order.hpp"
#include "sim/run/like_clusters.hpp"
#include "sim/run/watchers.hpp"

namespace warptwin::sim {

namespace {

TensorType type_of(ElementType type) {
  switch (type) {
    case ElementType::kF32:
      return TensorType::kF32;
    case ElementType::kTf32:
      return TensorType::kTf32;
    case ElementType::kF16:
      return TensorType::kF16;
    case ElementType::kBf16:
      return TensorType::kBf16;
    case ElementType::kU8:
      return TensorType::kU8;
    case ElementType::kU16:
      return TensorType::kU16;
    case ElementType::kU32:
      return TensorType::kU32;
    case ElementType::kI32:
      return TensorType::kS32;
    case ElementType::kU64:
      return TensorType::kU64;
    case ElementType::kI64:
      return TensorType::kS64;
    case ElementType::kF64:
      return TensorType::kF64;
    default:
      return TensorType::kOther;
  }
}

TensorType type_of(Packing packing, ElementType type) {
  switch (packing) {
    case Packing::k16U4Align8B:
      return TensorType::k16U4Align8B;
    case Packing::k16U4Align16B:
      return TensorType::k16U4Align16B;
    case Packing::k16U6Align16B:
      return TensorType::k16U6Align16B;
    case Packing::kNone:
      break;
  }
  return type_of(type);
}

}  // namespace

TensorMapState decode_map(const TensorMapSpec& spec,
                          const TensorSpec& tensor,
                          GlobalAddress address) {
  TensorMapState map;
  map.tensor = tensor.name;
  map.address = address.value;
  map.rank = 1;
  map.type = type_of(spec.packing, tensor.element);
  map.element_bytes = bytes_of(tensor.element);
  map.extent[0] = tensor.units();
  if (spec.packing != Packing::kNone) {
    const std::uint64_t row_bytes = std::uint64_t{map.extent[0]} * map.element_bytes;
    map.element_bytes = bytes_of(map.type);
    map.extent[0] = static_cast<std::uint32_t>(row_bytes / map.element_bytes * map.unit());
  }
  map.stride_bytes[0] = map.element_bytes;
  map.box[0] = spec.box_columns;
  for (const MapDimension& dimension : outer_dimensions(spec, tensor)) {
    map.extent[map.rank] = dimension.extent;
    map.stride_bytes[map.rank] = dimension.stride_bytes;
    map.box[map.rank] = dimension.box;
    map.step[map.rank] = dimension.step;
    ++map.rank;
  }
  map.swizzle = spec.swizzle;
  map.pixels = spec.im2col.pixels;
  map.kind = map.pixels == 0 ? TensorMapKind::kTiled : TensorMapKind::kIm2col;
  std::copy(std::begin(spec.im2col.lower), std::end(spec.im2col.lower), std::begin(map.lower));
  std::copy(std::begin(spec.im2col.upper), std::end(spec.im2col.upper), std::begin(map.upper));
  return map;
}

namespace {

void upload(GlobalMemory& memory, GlobalAddress address, HostTensor& tensor) {
  const TensorSpec& spec = tensor.spec;
  std::byte* base = memory.at(address.value, spec.bytes());
  for (std::uint32_t row = 0; row < spec.rows; ++row) {
    for (std::uint32_t column = 0; column < spec.columns; ++column) {
      const std::uint32_t bits = encode(spec.element, tensor.at(row, column));
      tensor.at(row, column) = decode(spec.element, bits);  // what the kernel will see
      write_element(spec, base + std::size_t{row} * spec.pitch_bytes, column, bits);
    }
  }
}

void download(GlobalMemory& memory, GlobalAddress address, HostTensor& tensor) {
  const std::byte* all = memory.at(address.value, tensor.spec.bytes());
  if (!fits_float(tensor.spec.element) && all != nullptr) {
    tensor.bytes.assign(all, all + tensor.spec.bytes());
  }
  const TensorSpec& spec = tensor.spec;
  const std::byte* base = memory.at(address.value, spec.bytes());
  for (std::uint32_t row = 0; row < spec.rows; ++row) {
    for (std::uint32_t column = 0; column < spec.columns; ++column) {
      const std::byte* at = base + std::size_t{row} * spec.pitch_bytes;
      tensor.at(row, column) = read_element(spec, at, column);
    }
  }
}

HostTensor zeros_of(const TensorSpec& spec) {
  return {spec, std::vector<float>(std::size_t{spec.rows} * spec.columns, 0.0F)};
}

HostTensor input_of(const TensorSpec& spec, std::size_t index, const RunOptions& options) {
  HostTensor tensor{spec, {}};
  const auto given = options.inputs.find(spec.name);
  if (spec.use != TensorUse::kInput) {
    return zeros_of(spec);
  }
  if (given == options.inputs.end()) {
    tensor.values = drawn_values(spec, options.input_seed, index);
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

std::optional<Tolerance> tolerance_of(const ScenarioEntry& scenario, std::size_t tensor) {
  return tensor < scenario.tolerances.size() ? scenario.tolerances[tensor] : std::nullopt;
}

// Gives each tensor its place in `memory` and its contents. Returns them where data moves.
std::vector<HostTensor> fill(const ScenarioEntry& scenario,
                             const Workload& workload,
                             const RunOptions& options,
                             GlobalMemory& memory,
                             std::vector<GlobalAddress>& addresses) {
  std::vector<HostTensor> tensors;
  for (const TensorSpec& spec : workload.tensors) {
    // Scratch holds control words: it is there even when no tile data moves.
    const bool holds = options.moves_data || spec.use == TensorUse::kScratch ||
                       scenario.initial_is_whole ||
                       (scenario.initial != nullptr && spec.use == TensorUse::kOutput);
    const std::size_t index = addresses.size();
    const std::uint64_t place = index < scenario.places.size() ? scenario.places[index] : 0;
    if (place != 0) {
      memory.add_at(place, spec.name, spec.bytes(), holds);
    }
    addresses.push_back({place != 0 ? place : memory.add(spec.name, spec.bytes(), holds)});
    if (!options.moves_data) {
      continue;
    }
    if (place != 0 && spec.use == TensorUse::kScratch) {
      tensors.push_back({spec, {}});  // no numbers: nobody asks for them behind the run
      continue;
    }
    if (scenario.initial_is_whole && !options.inputs.contains(spec.name)) {
      tensors.push_back(zeros_of(spec));
      continue;
    }
    tensors.push_back(input_of(spec, tensors.size(), options));
    upload(memory, addresses.back(), tensors.back());
  }
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    const std::vector<std::uint32_t>& words = workload.tensors[i].words;
    if (!words.empty()) {
      std::memcpy(memory.at(addresses[i].value, 4 * words.size()), words.data(), 4 * words.size());
    }
  }
  if (scenario.initial != nullptr) {
    scenario.initial(memory, addresses);
  }
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    const TensorSpec& spec = workload.tensors[i];
    if (!options.moves_data && !scenario.initial_is_whole && spec.use == TensorUse::kOutput) {
      memory.set_unknown(addresses[i].value, spec.bytes(), true);
    }
  }
  return tensors;
}

}  // namespace

bool RunResult::clean(bool strict) const {
  const bool found = std::any_of(findings.begin(), findings.end(), [&](const Finding& finding) {
    return strict || finding.severity >= Severity::kError;
  });
  const bool ended = end == Ending::kDone || (accepted != 0 && !stopped());
  return ended && !found;
}

std::string RunResult::ending() const {
  return sentence_of(end) + (refusal.empty() ? std::string{} : ": " + refusal);
}

std::vector<std::string> RunResult::taken() const {
  std::vector<std::string> said;
  const auto say = [&](std::string what, const std::vector<SourceSite>& sites) {
    for (const SourceSite& site : sites) {
      what += (&site == &sites.front() ? ", at " : ", ") + text_of(site);
    }
    if (!sites.empty()) {
      said.push_back(std::move(what));
    }
  };
  say("fences hold for threads that theirs has met at a barrier, as PTX says of fence.sc (membar)",
      across_fences);
  say("a collective brings the lanes of its warp together in memory order, as PTX says of "
      "bar.warp.sync",
      taken_meetings);
  return said;
}

bool RunResult::shows_defect() const {
  return stopped()
             ? std::any_of(findings.begin(),
                           findings.end(),
                           [](const Finding& one) { return one.severity >= Severity::kError; })
             : !clean(false);
}

std::uint32_t resident_ctas(const Workload& workload, std::uint32_t limit) {
  const std::uint32_t allowed = workload.resident_clusters == 0
                                    ? workload.clusters
                                    : std::min(workload.resident_clusters, workload.clusters);
  return workload.cluster_size * std::clamp(limit / workload.cluster_size, 1U, allowed);
}

// All clusters of a launch, those first that the schedule names.
static std::vector<std::uint32_t> cluster_order(const ScheduleSpec& schedule,
                                                std::uint32_t clusters) {
  std::vector<std::uint32_t> order = schedule.order;
  if (order.empty()) {
    return order;
  }
  for (const std::uint32_t cluster : schedule.order) {
    if (cluster >= clusters) {
      throw ConfigError("a schedule orders cluster " + std::to_string(cluster) +
                        ", and there are " + std::to_string(clusters));
    }
  }
  for (std::uint32_t cluster = 0; cluster < clusters; ++cluster) {
    if (std::find(order.begin(), order.end(), cluster) == order.end()) {
      order.push_back(cluster);
    }
  }
  return order;
}

LaunchConfig launch_config(const Launch& launch, const RunOptions& options) {
  const Workload& workload = launch.workload;
  LaunchConfig config = launch.config();
  config.resident_clusters = resident_ctas(workload, options.resident_ctas) / workload.cluster_size;
  config.places = options.sms == 0 ? 0 : std::max(1U, options.sms / workload.cluster_size);
  config.moves_data = options.moves_data;
  config.tries_fail = options.schedule.tries_fail;
  config.tries_pass = options.tries_pass;
  config.last_adders = options.schedule.last;
  config.refusals = options.refusals;
  if (options.schedule.tiles != 0) {
    config.resident_clusters = 1;
    config.places = 0;
    config.clc_successes_max = options.schedule.tiles - 1;
  }
  config.cluster_order = cluster_order(options.schedule, workload.clusters);
  config.clusters_begun_max = options.clusters_begun_max;
  config.clc_from_the_end = options.clc_from_the_end;
  config.rules = options.rules.machine;
  config.free_tmem_bases =
      !config.rules.tmem_base_lowest && !options.engine && (options.proves || !options.moves_data);
  const bool odd = options.schedule.seed % 2 != 0;
  for (PairMeeting* rule : {&config.rules.pair_alloc, &config.rules.pair_dealloc}) {
    if (*rule == PairMeeting::kEither) {
      *rule = odd ? PairMeeting::kTogether : PairMeeting::kAlone;
    }
  }
  return config;
}

LaunchConfig launch_config(const ScenarioEntry& scenario,
                           const ParameterSet& parameters,
                           const RunOptions& options) {
  return launch_config(scenario.launch(parameters), options);
}

// Runs the machine to its end, or to what cannot be executed.
static void execute(Gpu& gpu,
                    const WarpBody& body,
                    const RunOptions& options,
                    const Watchers& watchers,
                    const DetectorSet* detectors,
                    RunResult& result) {
  try {
    if (options.engine) {
      result.stats = options.engine(gpu, body);
    } else {
      const std::unique_ptr<Scheduler> scheduler =
          options.scheduler ? options.scheduler(gpu) : make_scheduler(options.schedule);
      result.stats = run_functional(
          gpu, body, *scheduler, options.limits, options.record ? &result.choices : nullptr);
    }
  } catch (const ConfigError& refused) {
    // Behind a defect nothing need be as it should, and the defect is what there is to say.
    watchers.flush();
    if (detectors == nullptr || detectors->errors() == 0) {
      throw;
    }
    result.stats.ending = Ending::kRefused;
    result.refusal = refused.what();
  }
}

static LikeClusters::Sinks sinks_of(Watchers& watchers, const RunOptions& options) {
  return {watchers.sink(), options.alike, watchers.lane_judge(), watchers.try_judge()};
}

// The machine tells the watchers, and asks them; or what stands in front of them, if that is not
// null.
static void look_on(Gpu& gpu, Watchers& watchers, LikeClusters* front) {
  const TryJudge* tries = watchers.try_judge();
  gpu.set_try_judge(front != nullptr && tries != nullptr ? front : tries);
  gpu.set_lane_judge(front != nullptr ? front : watchers.lane_judge());
  gpu.set_sink(front != nullptr ? front : watchers.sink());
}

// What the grid before may still write, and read.
static void tell_grid_before(const ScenarioEntry& scenario,
                             const Workload& workload,
                             const std::vector<GlobalAddress>& addresses,
                             LaunchConfig& config) {
  const auto range = [&](std::uint32_t tensor) {
    const std::uint64_t begin = addresses[tensor].value;
    return std::pair{begin, begin + workload.tensors[tensor].bytes()};
  };
  for (const std::uint32_t tensor : workload.from_grid_before) {
    config.prerequisite_writes.push_back(range(tensor));
  }
  for (const std::uint32_t tensor : scenario.read_by_grid_before) {
    config.prerequisite_reads.push_back(range(tensor));
  }
}

RunResult simulate(const ScenarioEntry& scenario,
                   const ParameterSet& parameters,
                   const RunOptions& options) {
  const Launch launch = scenario.launch(parameters);
  const Workload& workload = launch.workload;
  const Symbols& symbols = launch.symbols;
  check_input_names(workload, options);

  GlobalMemory memory;
  std::vector<GlobalAddress> addresses;
  std::vector<HostTensor> tensors = fill(scenario, workload, options, memory, addresses);
  std::vector<SimTensorMap> maps;
  for (const TensorMapSpec& spec : workload.maps) {
    maps.push_back({static_cast<std::uint32_t>(memory.maps.size())});
    memory.maps.push_back(decode_map(spec, workload.tensors[spec.tensor], addresses[spec.tensor]));
  }

  memory.maps.insert(memory.maps.end(), scenario.more_maps.begin(), scenario.more_maps.end());

  LaunchConfig config = launch_config(launch, options);
  tell_grid_before(scenario, workload, addresses, config);
  Gpu gpu{config, memory, symbols};
  std::optional<DetectorSet> detectors;
  if (options.detect) {
    detectors.emplace(options.rules, gpu.config(), symbols);
  }
  Watchers watchers;
  watchers.add_late(detectors ? &*detectors : nullptr);
  watchers.add(options.observer);
  watchers.add_late(options.late_observer);
  std::optional<RunOrder> judge;
  if (config.tries_fail && options.try_judge == nullptr) {
    judge.emplace(gpu.config(), RunOrder::Options{.whole_grid = options.whole_grid});
    watchers.add_late(&*judge);
  }
  watchers.ask(judge ? &*judge : options.try_judge, detectors ? &*detectors : nullptr);
  std::optional<LikeClusters> like;
  if (options.alike != nullptr && detectors && gpu.config().clusters > 1 &&
      gpu.config().falls_back.empty()) {
    like.emplace(gpu.config(), memory, sinks_of(watchers, options));
  }
  look_on(gpu, watchers, like ? &*like : nullptr);
  if (options.on_machine) {
    options.on_machine(gpu);
  }
  RunResult result;
  const WarpBody body = scenario.body(parameters, maps, addresses);
  execute(gpu, body, options, watchers, detectors ? &*detectors : nullptr, result);
  if (like) {
    like->at_end();
    result.in_doubt = like->in_doubt();
  }
  watchers.flush();
  result.end = result.stats.ending;
  result.operations = gpu.operations();
  result.read_unknown = gpu.read_unknown();
  result.gave_up = gpu.gave_up();
  result.waits_at_try = gpu.waits_at_try();
  result.may_have_missed = gpu.may_have_missed();
  result.asked_unknown = gpu.asked_unknown();
  result.lanes_by_number = gpu.lanes_by_number();
  result.asks_active = gpu.asks_active();
  result.added_words = gpu.last_adders().words();
  if (detectors) {
    detectors->at_end(gpu, result.end);
    result.findings = detectors->take_findings();
    result.not_kept = detectors->not_kept();
    result.reductions_in_any_order = detectors->choices();
    result.compared_accesses = detectors->compared();
    result.across_fences = detectors->across_fences();
    result.taken_meetings = detectors->taken_meetings();
  }
  if (options.at_end) {
    options.at_end(memory, addresses);
  }
  if (options.moves_data) {
    std::vector<HostTensor> expected = tensors;
    const bool judged = result.end == Ending::kDone && scenario.reference != nullptr;
    if (judged) {
      scenario.reference(parameters, expected);
    }
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      if (tensors[i].spec.use == TensorUse::kOutput) {
        download(memory, addresses[i], tensors[i]);
        if (judged && !expected[i].values.empty()) {
          result.comparisons.push_back(compare(tensors[i], expected[i], tolerance_of(scenario, i)));
          if (!result.comparisons.back().agrees()) {
            result.findings.push_back(wrong_result(result.comparisons.back(), options.rules));
          }
        }
      }
    }
    result.tensors = std::move(tensors);
  }
  return result;
}

}  // namespace warptwin::sim
