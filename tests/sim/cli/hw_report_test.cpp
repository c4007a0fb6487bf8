#include "sim/cli/hw_report.hpp"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/trace/barrier_word.hpp"
#include "common/trace/op_facts.hpp"

#include "sim/cli/traces.hpp"
#include "sim/compare/compare.hpp"
#include "sim/trace/recorder.hpp"

namespace warptwin::sim::hw_report_test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

ScenarioEntry entry(const std::string& name) {
  for (const ScenarioEntry& scenario : scenario_list()) {
    if (name == scenario.info->name) {
      return scenario;
    }
  }
  throw std::runtime_error("no scenario " + name);
}

// The offset of a barrier from the start of the storage.
std::uint32_t offset_of(const ScenarioEntry& scenario,
                        const ParameterSet& parameters,
                        const std::string& name) {
  for (std::uint32_t offset = 0; offset < 1 << 20; offset += 8) {
    if (scenario.symbols(parameters).name(kSharedBase + offset) == name) {
      return offset;
    }
  }
  throw std::runtime_error("no region " + name);
}

class HangTest : public ::testing::Test {
 protected:
  void stand(std::uint32_t warp, hw::WarpState state, const char* barrier, BarrierWord word) {
    run_.warps.resize(2);
    run_.end = hw::DeviceEnd::kExpired;
    hw::WarpStand& stand = run_.warps[warp];
    stand.report.state = state;
    stand.report.op = static_cast<std::uint32_t>(Op::kMbarrierWait);
    stand.report.object = hw::RecordedEvent::at(offset_of(scenario_, parameters_, barrier));
    stand.report.wanted = word.parity;
    stand.report.flags = event_flag::kExactPhase;
    stand.report.word = word.bits();
    stand.report.line = 76;
    stand.file = "/a/b/scenarios/producer_consumer.hpp";
  }

  ScenarioEntry scenario_ = entry("producer_consumer");
  ParameterSet parameters_{scenario_.parameters};
  hw::DeviceRun run_;
  Trace record_;
};

TEST_F(HangTest, EveryWaiterIsNamedWithWhoOwesIt) {
  stand(0, hw::WarpState::kExpired, "ring.empty[2]", {0, 32, 32, 0, 0});
  stand(1, hw::WarpState::kExpired, "ring.full[0]", {1, 0, 1, 4096, 0});
  const HangReport report = hang_report(scenario_, parameters_, run_, record_);
  EXPECT_EQ(report.object, "ring.full[0] of cta 0");  // its arrivals are there
  EXPECT_THAT(report.text, HasSubstr("2 warps wait, and a deadline has passed"));
  EXPECT_THAT(report.text,
              HasSubstr("blocked  cta 0 warp 0 (producer)  waits for ring.empty[2] of cta 0 phase "
                        "0 (parity 0): a phase of parity 0 lacks 32 arrivals of 32  "
                        "[scenarios/producer_consumer.hpp:76]"));
  EXPECT_THAT(report.text,
              HasSubstr("owed     consumer (arrive, every lane): cta 0 warp 1 (consumer), which "
                        "waits for ring.full[0] of cta 0 phase 1 (parity 1): a phase of parity 1 "
                        "lacks 4096 bytes"));
}

TEST_F(HangTest, WarpsThatHaveEndedOweNothingAnyMore) {
  stand(1, hw::WarpState::kExpired, "ring.full[0]", {0, 1, 1, 0, 0});
  run_.warps[0].report.state = hw::WarpState::kEnded;
  const HangReport report = hang_report(scenario_, parameters_, run_, record_);
  EXPECT_THAT(report.text, HasSubstr("no one: its warps have ended"));
  EXPECT_THAT(report.text, Not(HasSubstr("blocked  cta 0 warp 0")));
}

TEST_F(HangTest, WaitsWithoutADeadlineAreReportedToo) {
  run_.warps.resize(2);
  run_.end = hw::DeviceEnd::kTimedOut;
  run_.warps[0].report.state = hw::WarpState::kBlocks;
  run_.warps[0].report.op = static_cast<std::uint32_t>(Op::kBarSync);
  run_.warps[0].report.object = 3;
  run_.warps[0].report.wanted = 64;
  const HangReport report = hang_report(scenario_, parameters_, run_, record_);
  EXPECT_THAT(report.text, HasSubstr("waits at named barrier 3 with 64 threads"));
  EXPECT_THAT(report.text, HasSubstr("hang: 1 warp waits, without a deadline"));
  run_.warps[1].report.state = hw::WarpState::kRuns;
  EXPECT_THAT(hang_report(scenario_, parameters_, run_, record_).text,
              HasSubstr("runs     cta 0 warp 1 (consumer)\n"));
  // What was recorded last may be what a wait found.
  hw::RecordedEvent last{};
  last.what = hw::RecordedEvent::what_of(Op::kMbarrierWait, 32, 0);
  last.object = hw::RecordedEvent::at(offset_of(scenario_, parameters_, "ring.full[1]"));
  hw::RecordedEvent token{};
  token.what = hw::RecordedEvent::kToken;
  run_.events = {{}, {{last, token}, 0}};
  EXPECT_THAT(hang_report(scenario_, parameters_, run_, record_).text,
              HasSubstr("runs     cta 0 warp 1 (consumer), last " +
                        std::string{name_of(Op::kMbarrierWait)} + " ring.full[1]\n"));
}

TEST_F(HangTest, WhatNobodyCanSupplyIsTheRoot) {
  // The producer's tiles are out; the consumer waits for one more, the producer for its stage.
  stand(0, hw::WarpState::kExpired, "ring.empty[2]", {0, 32, 32, 0, 0});
  stand(1, hw::WarpState::kExpired, "ring.full[0]", {0, 1, 1, 0, 0});
  EXPECT_EQ(hang_report(scenario_, parameters_, run_, record_).object, "ring.empty[2] of cta 0");
  run_.warps[0].report.state = hw::WarpState::kEnded;
  EXPECT_EQ(hang_report(scenario_, parameters_, run_, record_).object, "ring.full[0] of cta 0");
}

TEST_F(HangTest, AWaitForAPhaseThatIsOverIsTheRoot) {
  stand(0, hw::WarpState::kExpired, "ring.empty[2]", {0, 32, 32, 0, 0});
  stand(1, hw::WarpState::kExpired, "ring.full[0]", {0, 1, 1, 0, 0});
  run_.warps[1].report.wanted = 0;
  record_ =
      trace_of_launch(launch_config(scenario_, parameters_, {}), scenario_.symbols(parameters_));
  TraceOp arrival;
  arrival.op = Op::kMbarrierArrive;
  arrival.object = record_.name("ring.full[0]");
  arrival.count = 1;
  record_.warps[0].ops.assign(2, arrival);
  const HangReport report = hang_report(scenario_, parameters_, run_, record_);
  EXPECT_EQ(report.object, "ring.full[0] of cta 0");
  EXPECT_THAT(report.text, HasSubstr("it is phase 2: the one that is waited for is over"));
  record_.warps[0].lost = 1;  // then nothing is known
  EXPECT_EQ(hang_report(scenario_, parameters_, run_, record_).object, "ring.empty[2] of cta 0");
}

// Where the warps of a run of the simulator stand at its end, as a GPU would have published it.
hw::DeviceRun stands_of(const Gpu& gpu, const LaunchConfig& config) {
  hw::DeviceRun run;
  run.end = hw::DeviceEnd::kExpired;
  run.warps.resize(std::size_t{config.clusters} * config.cluster_size * config.warps_per_cta);
  for (hw::WarpStand& stand : run.warps) {
    stand.report.state = hw::WarpState::kEnded;
  }
  for (const Warp& warp : gpu.warps()) {
    hw::WarpReport& report = run.warps[warp.number].report;
    if (warp.status != WarpStatus::kBlocked) {
      continue;
    }
    const Operation& op = warp.blocked_on;
    report.state = hw::WarpState::kExpired;
    report.op = static_cast<std::uint32_t>(op.op);
    const Event told = op.told();
    report.object = op.op == Op::kMbarrierWait ? hw::RecordedEvent::at(told.address - kSharedBase)
                                               : told.address;
    report.wanted = told.numbers().wanted;
    report.flags = op.flags;
    if (const MbarrierState* bar = gpu.find_barrier(gpu.ctas()[warp.cta].number, told.address)) {
      report.word =
          BarrierWord{bar->phase() & 1U, bar->pending(), bar->expected(), bar->tx(), 0}.bits();
    }
  }
  return run;
}

// "ring.full" of "ring.full[2] of cta 1": which stage a fault comes to first is up to the schedule.
std::string barrier_of(const std::string& object) {
  return object.substr(0, object.find_first_of("[ "));
}

// Every broken scenario that hangs: the head of its report is what the simulator finds wrong.
TEST(HangRootTest, IsAnObjectThatTheSimulatorFindsWrong) {
  std::uint32_t hangs = 0;
  for (const ScenarioEntry& scenario : scenario_list()) {
    if (scenario.info->kind != ScenarioKind::kBroken) {
      continue;
    }
    for (const char* schedule : {"round-robin", "random:1", "random:2"}) {
      const ParameterSet parameters{scenario.parameters};
      hw::DeviceRun run;
      RunOptions options;
      options.moves_data = false;
      options.schedule = ScheduleSpec::parse(schedule);
      options.engine = [&](Gpu& gpu, const WarpBody& body) {
        const RunStats stats =
            run_functional(gpu, body, *make_scheduler(options.schedule), options.limits, nullptr);
        run = stands_of(gpu, gpu.config());
        return stats;
      };
      RunResult result;
      const Trace record = simulated_trace(scenario, parameters, options, result);
      if (result.end != Ending::kDeadlock) {
        continue;
      }
      ++hangs;
      const HangReport report = hang_report(scenario, parameters, run, record);
      const bool named =
          std::any_of(result.findings.begin(), result.findings.end(), [&](const Finding& finding) {
            return barrier_of(text_of(finding.object)) == barrier_of(report.object);
          });
      EXPECT_TRUE(named) << scenario.info->name << " " << schedule << ": " << report.object << "\n"
                         << report.text;
    }
  }
  EXPECT_GT(hangs, 20U);
}

TEST(HopperTest, AScenarioThatMultipliesByWarpgroupsNeedsIt) {
  const ScenarioEntry wgmma = entry("mainloop_wgmma");
  EXPECT_EQ(needs_of_hopper(wgmma, ParameterSet{wgmma.parameters}),
            "wgmma, the MMA of a warpgroup");
  const ScenarioEntry gemm = entry("gemm");
  EXPECT_EQ(needs_of_hopper(gemm, ParameterSet{gemm.parameters}), "");
}

// A record of the operations of the simulator's warps is taken for the simulator's trace.
TEST(HardwareTraceTest, ARecordBecomesTheTraceOfTheSameRun) {
  const ScenarioEntry scenario = entry("producer_consumer");
  const ParameterSet parameters{scenario.parameters};
  RunResult result;
  const Trace predicted = simulated_trace(scenario, parameters, {}, result);
  hw::DeviceRun run;
  run.map_places = {0, hw::kNoMap, 1};
  for (const WarpTrace& warp : predicted.warps) {
    hw::WarpEvents& events = run.events.emplace_back();
    for (const TraceOp& op : warp.ops) {
      const bool load = op.op == Op::kTensorLoad;
      const bool store = op.op == Op::kTensorStore;
      const bool shared = has_trait(op.op, op_trait::kSharedObject);
      const std::string& name = predicted.names[op.object];
      hw::RecordedEvent event{};
      event.what = hw::RecordedEvent::what_of(op.op, op.lanes, op.flags);
      event.object = shared ? hw::RecordedEvent::at(offset_of(scenario, parameters, name),
                                                    load    ? 0
                                                    : store ? 2
                                                            : hw::RecordedEvent::kOwnRank)
                            : 0;
      event.value = load ? offset_of(scenario, parameters, predicted.names[op.on])
                    : (op.flags & event_flag::kExpectTx) != 0 ? op.bytes / op.lanes
                    : op.op == Op::kMbarrierArrive            ? op.count / op.lanes
                    : op.op == Op::kMbarrierWait              ? op.wanted
                    : op.op == Op::kBarSync                   ? 0
                                                              : op.count;
      events.events.push_back(event);
    }
  }
  const Trace seen = trace_of(scenario, parameters, run, "a GPU, sm_90");
  const TraceComparison comparison = compare_traces(predicted, seen);
  EXPECT_TRUE(comparison.agrees()) << text_of(comparison, "predicted", "seen");
  EXPECT_EQ(comparison.phases, 32U);
  EXPECT_THAT(text_of(comparison, "predicted", "seen"), HasSubstr("emulated: tensor memory"));
}

// Both CTAs of a pair load for the barrier of the one that leads; one that multicasts, for its own
// barrier in each.
TEST(DataRegionsTest, AreWhereLoadsWriteForABarrierOfEachRank) {
  const auto named = [](const char* name, std::int64_t stages) {
    const ScenarioEntry scenario = entry(name);
    ParameterSet parameters{scenario.parameters};
    parameters.set("stages", stages);
    const Symbols symbols = scenario.symbols(parameters);
    const auto text = [&](std::uint32_t at) {
      return symbols.name(kSharedBase + hw::RecordedEvent::offset_of(at)) + " of " +
             std::to_string(hw::RecordedEvent::rest_of(at));
    };
    std::vector<std::string> all;
    for (const hw::DataRegion& region : data_regions(scenario, parameters)) {
      all.push_back(text(region.barrier) + ": " + std::to_string(region.bytes) + " in " +
                    text(region.place));
    }
    return all;
  };
  EXPECT_THAT(named("producer_consumer", 2),
              UnorderedElementsAre("ring.full[0] of 0: 4096 in ring.tile[0] of 0",
                                   "ring.full[1] of 0: 4096 in ring.tile[1] of 0"));
  EXPECT_THAT(named("gemm_2sm", 1),
              UnorderedElementsAre("input.full of 0: 16384 in input.tile of 0",
                                   "input.full of 0: 16384 in input.tile of 0",
                                   "input.full of 0: 16384 in input.tile of 1",
                                   "input.full of 0: 16384 in input.tile of 1"));
  const std::vector<std::string> multicast = named("multicast_ring", 2);
  EXPECT_THAT(multicast, Contains(HasSubstr("of 1: ")));
  for (const std::string& region : multicast) {
    const char owner = region[region.find(": ") - 1];
    EXPECT_EQ(owner, region.back()) << region;
  }
}

// A ring that is full has lost the wait of its oldest token.
TEST(HardwareTraceTest, ATokenBelongsToTheWaitBeforeIt) {
  const ScenarioEntry scenario = entry("producer_consumer");
  const ParameterSet parameters{scenario.parameters};
  hw::DeviceRun run;
  run.regions = data_regions(scenario, parameters);
  const hw::DataRegion& region = run.regions[1];
  const auto token = [](std::uint32_t index, std::uint32_t data) {
    return hw::RecordedEvent{0, hw::RecordedEvent::kToken, index, data};
  };
  hw::RecordedEvent wait{};
  wait.what = hw::RecordedEvent::what_of(Op::kMbarrierWait, 32, event_flag::kExactPhase);
  wait.object = hw::RecordedEvent::at(region.barrier);
  hw::RecordedEvent load{};
  load.what = hw::RecordedEvent::what_of(Op::kTensorLoad, 1, 0);
  load.object = region.place;
  run.events = {{{load}, 0}, {{token(0, 5), wait, token(1, 7), token(99, 8), wait}, 3}};
  const Trace trace = trace_of(scenario, parameters, run, "a GPU, sm_90");
  EXPECT_EQ(trace.warps[0].ops[0].address, kSharedBase + (region.place & 0xFFFFFFU));
  ASSERT_EQ(trace.warps[1].ops.size(), 2U);
  ASSERT_EQ(trace.warps[1].tokens.size(), 1U);
  const TraceToken& seen = trace.warps[1].tokens[0];
  EXPECT_EQ(seen.at, 0U);
  EXPECT_EQ(seen.data, 7U);
  EXPECT_EQ(seen.bytes, 4096U);
  EXPECT_EQ(seen.address, trace.warps[0].ops[0].address);
  EXPECT_EQ(trace.names[seen.object], trace.names[trace.warps[0].ops[0].object]);
}

TEST(HardwareTraceTest, ATraceNamesWhatWasEmulatedForIt) {
  const ScenarioEntry scenario = entry("gemm");
  const ParameterSet parameters{scenario.parameters};
  const auto emulated = [&](Op op, std::uint32_t value, const char* device) {
    hw::RecordedEvent event{};
    event.what = hw::RecordedEvent::what_of(op, 1, 0);
    event.value = value;
    hw::DeviceRun run;
    run.events.push_back({{event}, 0});
    return trace_of(scenario, parameters, run, device).emulated;
  };
  constexpr const char* kCore[] = {"tensor memory", "tcgen05.mma", "tcgen05.commit"};
  constexpr std::uint32_t kPair = hw::RecordedEvent::at(0, hw::RecordedEvent::kPairLoad);
  EXPECT_THAT(emulated(Op::kTensorLoad, 0, "a GPU, sm_90"), ElementsAreArray(kCore));
  EXPECT_THAT(emulated(Op::kTensorLoad, kPair, "a GPU, sm_90"),
              Contains("copies counted by a pair's leader"));
  EXPECT_THAT(emulated(Op::kTcgen05Cp, 4, "a GPU, sm_90"), Contains("tcgen05.cp"));
  EXPECT_THAT(emulated(Op::kClcTryCancel, 0, "a GPU, sm_90"), Contains("cluster launch control"));
  EXPECT_THAT(emulated(Op::kClcTryCancel, 0, "a GPU, sm_100"), IsEmpty());
}

}  // namespace
}  // namespace warptwin::sim::hw_report_test
