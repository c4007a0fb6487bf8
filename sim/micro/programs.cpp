#include "sim/micro/programs.hpp"

#include <algorithm>
#include <numeric>

#include "sim/micro/building.hpp"
#include "sim/prove/run_order.hpp"
#include "sim/run/simulate.hpp"

namespace warptwin::sim {

namespace {

constexpr std::uint32_t kSharedEnd = 32768;

Symbols symbols_of(const MicroProgram& micro) {
  Symbols symbols;
  symbols.bytes = kSharedEnd - kSharedBase;
  if (!micro.ring) {
    symbols.roles = {{Role::kCount, micro.warps}};
    return symbols;
  }
  symbols.rings.push_back({"ring",
                           micro::kRing.address.value,
                           micro::kRing.address.value + 8 * micro::kStages,
                           micro::kStages,
                           micro::kRingTiles.value,
                           micro::kStageBytes});
  Region full{
      RegionKind::kBarriers, "ring", "full", micro::kRing.address.value, micro::kStages, 8, {}};
  full.contract.contributors[0] = {Role::kProducer, ArrivalKind::kElectedLane, 1};
  full.contract.bytes = 32;
  symbols.regions.push_back(full);
  symbols.roles = {{Role::kProducer, 1}};
  if (micro.warps > 1) {
    symbols.roles.push_back({Role::kConsumer, micro.warps - 1});
  }
  return symbols;
}

enum Tensor : std::size_t { kSourceTensor, kFlagTensor, kResultTensor };

Workload workload_of(const MicroProgram& micro) {
  constexpr std::uint32_t kFloat = sizeof(float);
  Workload workload;
  workload.tensors = {{"source",
                       TensorUse::kInput,
                       ElementType::kF32,
                       1,
                       micro::kSourceBytes / kFloat,
                       micro::kSourceBytes},
                      {"flags",
                       TensorUse::kScratch,
                       ElementType::kU32,
                       1,
                       micro::kFlagBytes / kFloat,
                       micro::kFlagBytes}};
  if (micro.has_result) {
    workload.tensors.push_back({"result",
                                TensorUse::kOutput,
                                ElementType::kF32,
                                1,
                                micro::kResultBytes / kFloat,
                                micro::kResultBytes});
  }
  workload.clusters = micro.clusters;
  workload.cluster_size = micro.ctas;
  workload.resident_clusters = micro.resident;
  if (micro.dependent) {
    workload.from_grid_before = {kSourceTensor};
  }
  workload.has_dependents = micro.has_dependents;
  return workload;
}

// What every launch of the command goes through.
ScenarioEntry entry_of(const MicroProgram& micro, bool wrong) {
  static constexpr ScenarioInfo kInfo{"micro-program", ScenarioKind::kClean, "a few operations"};
  ScenarioEntry entry{};
  entry.info = &kInfo;
  entry.workload = [&micro](const ParameterSet&) { return workload_of(micro); };
  entry.symbols = [&micro](const ParameterSet&) { return symbols_of(micro); };
  entry.body = [&micro, wrong](const ParameterSet&,
                               std::span<const SimTensorMap>,
                               std::span<const GlobalAddress> tensors) -> WarpBody {
    WARPTWIN_ASSERT(tensors[kSourceTensor].value == micro::kSource.value &&
                    tensors[kFlagTensor].value == micro::kFlag.value);
    WARPTWIN_ASSERT(!micro.has_result || tensors[kResultTensor].value == micro::kResult.value);
    return wrong ? micro.wrong : micro.right;
  };
  entry.reference = [](const ParameterSet&, std::span<HostTensor> tensors) {
    std::vector<float>& result = tensors[kResultTensor].values;
    std::copy_n(tensors[kSourceTensor].values.begin(), result.size(), result.begin());
  };
  entry.more_maps = micro::tensor_maps();
  return entry;
}

RunOptions options_of(const MicroProgram& micro) {
  RunOptions options;
  options.schedule = ScheduleSpec::parse(micro.schedule);
  options.rules = micro.rules;
  options.moves_data = micro.has_result;
  options.limits.steps_max = 100'000;
  std::vector<float>& source = options.inputs["source"];
  source.resize(micro::kSourceBytes / sizeof(float));
  std::iota(source.begin(), source.end(), 0.0F);
  return options;
}

class Both : public EventSink {
 public:
  Both(EventSink& first, EventSink* second) : first_{first}, second_{second} {}
  void on_event(const Event& event) override {
    first_.on_event(event);
    if (second_ != nullptr) {
      second_->on_event(event);
    }
  }

 private:
  EventSink& first_;
  EventSink* second_;
};

}  // namespace

std::span<const MicroProgram> micro_programs() {
  static const std::vector<MicroProgram> kPrograms = [] {
    micro::List list;
    micro::add_mbarriers(list);
    micro::add_memory(list);
    micro::add_copies(list);
    micro::add_lane_copies(list);
    micro::add_tensor_memory(list);
    micro::add_groups(list);
    micro::add_pipelines(list);
    micro::add_layouts(list);
    micro::add_launches(list);
    micro::add_warpgroups(list);
    return list.take();
  }();
  return kPrograms;
}

std::string micro_name(std::size_t index) {
  const std::span<const MicroProgram> all = micro_programs();
  const std::string id = all[index].id;
  const auto before = std::count_if(all.begin(),
                                    all.begin() + static_cast<std::ptrdiff_t>(index),
                                    [&](const MicroProgram& micro) { return id == micro.id; });
  return before == 0 ? id : id + "_" + std::to_string(before + 1);
}

std::vector<Finding> run_micro(const MicroProgram& micro, bool wrong, EventSink* watcher) {
  const ScenarioEntry entry = entry_of(micro, wrong);
  const ParameterSet none{entry.parameters};
  RunOptions options = options_of(micro);
  RunOrder order{launch_config(entry, none, options), {}};
  Both sinks{order, watcher};
  options.observer = &sinks;
  std::vector<Finding> findings = simulate(entry, none, options).findings;
  order.at_end();
  for (const RunOrder::Finding& broken : order.findings()) {
    Finding finding;
    finding.info = find_diagnostic(diagnostic_of(broken.violation.condition));
    finding.site = broken.violation.node.site;
    findings.push_back(finding);
  }
  return findings;
}

}  // namespace warptwin::sim
