#include "sim/micro/programs.hpp"

#include <algorithm>
#include <cstring>

#include "sim/check/results.hpp"
#include "sim/functional/engine.hpp"
#include "sim/micro/building.hpp"
#include "sim/prove/run_order.hpp"

namespace warptwin::sim {

namespace {

Symbols ring_symbols() {
  Symbols symbols;
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
  symbols.roles = {{Role::kProducer, 1}, {Role::kConsumer, 1}};
  return symbols;
}

// Fills the source with 0, 1, 2, ... in fp32.
void fill_source(GlobalMemory& memory) {
  std::byte* source = memory.at(micro::kSource.value, micro::kSourceBytes);
  for (std::uint32_t i = 0; i < micro::kSourceBytes / sizeof(float); ++i) {
    const auto value = static_cast<float>(i);
    std::memcpy(source + i * sizeof value, &value, sizeof value);
  }
}

Comparison compare_result(GlobalMemory& memory) {
  constexpr std::uint32_t kColumns = micro::kResultBytes / sizeof(float);
  const TensorSpec spec{
      "result", TensorUse::kOutput, ElementType::kF32, 1, kColumns, micro::kResultBytes};
  const auto row_at = [&](GlobalAddress address) {
    HostTensor row{spec, std::vector<float>(kColumns)};
    std::memcpy(row.values.data(), memory.at(address.value, spec.bytes()), spec.bytes());
    return row;
  };
  return compare(row_at(micro::kResult), row_at(micro::kSource));
}

}  // namespace

std::span<const MicroProgram> micro_programs() {
  static const std::vector<MicroProgram> kPrograms = [] {
    micro::List list;
    micro::add_mbarriers(list);
    micro::add_memory(list);
    micro::add_copies(list);
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
  LaunchConfig config;
  config.warps_per_cta = micro.warps;
  config.cluster_size = micro.ctas;
  config.clusters = micro.clusters;
  config.resident_clusters = micro.resident == 0 ? micro.clusters : micro.resident;
  config.has_dependents = micro.has_dependents;
  if (micro.dependent) {
    config.prerequisite_writes.emplace_back(micro::kSource.value,
                                            micro::kSource.value + micro::kSourceBytes);
  }
  config.shared_bytes = 32768;
  config.moves_data = micro.has_result;
  config.rules = micro.rules.machine;
  const ScheduleSpec schedule = ScheduleSpec::parse(micro.schedule);
  config.tries_fail = schedule.tries_fail;
  GlobalMemory memory;
  WARPTWIN_ASSERT(memory.add("source", micro::kSourceBytes, micro.has_result) ==
                  micro::kSource.value);
  WARPTWIN_ASSERT(memory.add("flags", micro::kFlagBytes, true) == micro::kFlag.value);
  if (micro.has_result) {
    WARPTWIN_ASSERT(memory.add("result", micro::kResultBytes, true) == micro::kResult.value);
    fill_source(memory);
  }
  memory.maps = micro::tensor_maps();
  const Symbols symbols = micro.ring ? ring_symbols() : Symbols{};
  Gpu gpu{config, memory, symbols};
  DetectorSet detectors{micro.rules, gpu.config(), symbols};
  RunOrder order{gpu.config(), {}};
  struct All : EventSink {
    void on_event(const Event& event) override {
      for (EventSink* sink : sinks) {
        sink->on_event(event);
      }
    }
    std::vector<EventSink*> sinks;
  };
  All all;
  all.sinks = {&detectors, &order};
  if (watcher != nullptr) {
    all.sinks.push_back(watcher);
  }
  gpu.set_sink(&all);
  const auto scheduler = make_scheduler(schedule);
  const RunStats stats =
      run_functional(gpu, wrong ? micro.wrong : micro.right, *scheduler, {100'000});
  detectors.at_end(gpu, stats.ending);
  std::vector<Finding> findings = detectors.take_findings();
  if (micro.has_result && !compare_result(memory).agrees()) {
    findings.push_back(wrong_result(compare_result(memory), micro.rules));
  }
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
