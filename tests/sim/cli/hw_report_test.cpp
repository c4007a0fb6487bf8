#include "sim/cli/hw_report.hpp"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/trace/barrier_word.hpp"

#include "sim/cli/traces.hpp"
#include "sim/compare/compare.hpp"
#include "sim/trace/recorder.hpp"

namespace warptwin::sim {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

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
    report.object =
        op.op == Op::kMbarrierWait ? hw::RecordedEvent::at(op.address - kSharedBase) : op.address;
    report.wanted = op.wanted;
    report.flags = op.flags;
    if (const MbarrierState* bar = gpu.find_barrier(gpu.ctas()[warp.cta].number, op.address)) {
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
    // The fault of gemm_persistent_unread_failure is no barrier: the simulator names the response.
    if (scenario.info->kind != ScenarioKind::kBroken ||
        std::string_view{scenario.info->name} == "gemm_persistent_unread_failure") {
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
      if (result.end != RunEnd::kDeadlock) {
        continue;
      }
      ++hangs;
      const HangReport report = hang_report(scenario, parameters, run, record);
      const bool named =
          std::any_of(result.findings.begin(), result.findings.end(), [&](const Finding& finding) {
            return barrier_of(finding.object) == barrier_of(report.object);
          });
      EXPECT_TRUE(named) << scenario.info->name << " " << schedule << ": " << report.object << "\n"
                         << report.text;
    }
  }
  EXPECT_GT(hangs, 20U);
}

TEST(BlackwellTest, ScenariosThatHopperRunsNeedNothing) {
  for (const char* name : {"producer_consumer", "multicast_ring", "gemm", "unsynced_lanes"}) {
    const ScenarioEntry scenario = entry(name);
    EXPECT_EQ(needs_of_blackwell(scenario, ParameterSet{scenario.parameters}), "") << name;
  }
}

TEST(HopperTest, AScenarioThatMultipliesByWarpgroupsNeedsIt) {
  const ScenarioEntry wgmma = entry("mainloop_wgmma");
  const ParameterSet parameters{wgmma.parameters};
  EXPECT_EQ(needs_of_hopper(wgmma, parameters), "wgmma, the MMA of a warpgroup");
  EXPECT_EQ(needs_of_blackwell(wgmma, parameters), "");
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
      const bool shared = is_in_shared_memory(op.op);
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

}  // namespace
}  // namespace warptwin::sim
