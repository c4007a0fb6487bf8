#include "sim/cli/hw_report.hpp"

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
};

TEST_F(HangTest, EveryWaiterIsNamedWithWhoOwesIt) {
  stand(0, hw::WarpState::kExpired, "ring.empty[2]", {0, 32, 32, 0, 0});
  stand(1, hw::WarpState::kExpired, "ring.full[0]", {1, 0, 1, 4096, 0});
  const HangReport report = hang_report(scenario_, parameters_, run_);
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
  const HangReport report = hang_report(scenario_, parameters_, run_);
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
  const HangReport report = hang_report(scenario_, parameters_, run_);
  EXPECT_THAT(report.text, HasSubstr("waits at named barrier 3 with 64 threads"));
  EXPECT_THAT(report.text, HasSubstr("hang: 1 warp waits, without a deadline"));
  run_.warps[1].report.state = hw::WarpState::kRuns;
  EXPECT_THAT(hang_report(scenario_, parameters_, run_).text,
              HasSubstr("runs     cta 0 warp 1 (consumer)\n"));
}

TEST(BlackwellTest, ScenariosThatHopperRunsNeedNothing) {
  for (const char* name : {"producer_consumer", "multicast_ring", "gemm", "unsynced_lanes"}) {
    const ScenarioEntry scenario = entry(name);
    EXPECT_EQ(needs_of_blackwell(scenario, ParameterSet{scenario.parameters}), "") << name;
  }
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
