#include "sim/compare/compare.hpp"

#include <algorithm>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/kernel/scenario.hpp"

#include "sim/cli/traces.hpp"
#include "sim/compare/replay.hpp"
#include "sim/trace/trace_file.hpp"

namespace warptwin::sim {
namespace {

using ::testing::HasSubstr;

const ScenarioEntry& entry(const std::string& name) {
  static const std::vector<ScenarioEntry> all = scenario_list();
  for (const ScenarioEntry& scenario : all) {
    if (name == scenario.info->name) {
      return scenario;
    }
  }
  throw std::runtime_error("no scenario " + name);
}

struct Settings {
  std::string name;
  std::vector<std::pair<std::string, std::int64_t>> set;
};

Trace trace(const Settings& settings, const std::string& schedule, EventSink* observer = nullptr) {
  const ScenarioEntry& scenario = entry(settings.name);
  ParameterSet parameters{scenario.parameters};
  for (const auto& [name, value] : settings.set) {
    parameters.set(name, value);
  }
  RunOptions options;
  options.moves_data = false;
  options.detect = false;
  options.schedule = ScheduleSpec::parse(schedule);
  options.observer = observer;
  RunResult result;
  return simulated_trace(scenario, parameters, options, result);
}

TEST(CompareTest, SchedulesOfACleanScenarioAgree) {
  const std::vector<Settings> clean = {{"producer_consumer", {}},
                                       {"producer_consumer", {{"tiles", 7}, {"stages", 3}}},
                                       {"multicast_ring", {}},
                                       {"work_ring", {{"work", 0x5A}}},
                                       {"gemm", {{"m", 256}, {"n", 384}, {"k", 384}, {"ctas", 2}}}};
  for (const Settings& settings : clean) {
    const Trace first = trace(settings, "round-robin");
    for (const char* schedule :
         {"random:1", "random:2", "pct:3:3:4096", "round-robin+tries-fail"}) {
      const TraceComparison comparison = compare_traces(first, trace(settings, schedule));
      EXPECT_TRUE(comparison.agrees()) << settings.name << " " << schedule << "\n"
                                       << text_of(comparison, "a", "b");
      EXPECT_GT(comparison.operations, 0U);
      EXPECT_GT(comparison.phases, 0U);
    }
  }
}

// What the model says about its barriers.
class PhaseCounter : public EventSink {
 public:
  void on_event(const Event& event) override {
    completed += (event.flags & event_flag::kPhaseCompleted) != 0 && is_mbarrier(event.op) ? 1 : 0;
  }
  std::uint64_t completed = 0;

 private:
  static bool is_mbarrier(Op op) { return op != Op::kBarSync && op != Op::kBarArrive; }
};

TEST(CompareTest, TheReplayCompletesThePhasesOfTheModel) {
  for (const char* name : {"producer_consumer", "multicast_ring", "gemm", "work_ring"}) {
    const Trace recorded = trace({name, {}}, "random:5");
    const Replay replayed = replay(recorded);
    std::uint64_t completed = 0;
    for (const auto& [place, barrier] : replayed.barriers) {
      completed += barrier.completed();
    }
    for (std::size_t warp = 0; warp < recorded.warps.size(); ++warp) {
      EXPECT_EQ(replayed.reached[warp], recorded.warps[warp].ops.size()) << name << " " << warp;
    }
    // The recorder takes the observer's place: count in a run of its own.
    PhaseCounter counter;
    RunOptions options;
    options.moves_data = false;
    options.detect = false;
    options.schedule = ScheduleSpec::parse("random:5");
    options.observer = &counter;
    const ScenarioEntry& scenario = entry(name);
    simulate(scenario, ParameterSet{scenario.parameters}, options);
    EXPECT_EQ(completed, counter.completed) << name;
  }
}

TEST(CompareTest, TheFirstDifferenceIsSaidInTheScenariosWords) {
  const Trace first = trace({"producer_consumer", {}}, "round-robin");
  Trace second = first;
  // The consumer leaves out an arrival of its third tile.
  std::vector<TraceOp>& ops = second.warps[1].ops;
  std::size_t seen = 0;
  const auto third = std::find_if(ops.begin(), ops.end(), [&](const TraceOp& op) {
    return op.op == Op::kMbarrierArrive && ++seen == 3;
  });
  ASSERT_NE(third, ops.end());
  ops.erase(third);
  const TraceComparison comparison = compare_traces(first, second);
  ASSERT_FALSE(comparison.agrees());
  EXPECT_THAT(comparison.mismatches[0].where, HasSubstr("cta 0 warp 1 (consumer)"));
  EXPECT_THAT(comparison.mismatches[0].first, HasSubstr("arrives on ring.empty[2], 32 arrivals"));
  EXPECT_THAT(comparison.mismatches[0].second, HasSubstr("waits for ring.full[3] phase 0"));
  EXPECT_THAT(comparison.mismatches[0].first, HasSubstr("producer_consumer.hpp:"));
  EXPECT_THAT(text_of(comparison, "a", "b"), HasSubstr("ring.empty[2] of cta 0, phase 0"));
}

TEST(CompareTest, ContributorsOfAPhaseAreCompared) {
  const Trace first = trace({"producer_consumer", {}}, "round-robin");
  Trace second = first;
  for (TraceOp& op : second.warps[0].ops) {
    if (op.op == Op::kMbarrierArrive && second.names[op.object] == "ring.full[1]") {
      op.bytes /= 2;
    }
  }
  const std::string text = text_of(compare_traces(first, second), "a", "b");
  EXPECT_THAT(text, HasSubstr("expecting 4096 bytes"));
  EXPECT_THAT(text, HasSubstr("expecting 2048 bytes"));
  EXPECT_THAT(text, HasSubstr("ring.full[1] of cta 0, phase 0"));
}

TEST(CompareTest, ClustersThatDidEachOthersWorkAreTakenForEachOther) {
  const Settings settings{"gemm", {{"m", 256}, {"n", 128}, {"k", 128}, {"ctas", 2}}};
  const Trace first = trace(settings, "round-robin");
  Trace second = first;
  // A difference that marks the clusters, the other way round in the second trace.
  Trace marked = first;
  marked.warps[0].ops.erase(marked.warps[0].ops.end() - 1);
  const std::size_t per_cta = first.warps_per_cta();
  second.warps[per_cta].ops.erase(second.warps[per_cta].ops.end() - 1);
  EXPECT_TRUE(compare_traces(marked, second).agrees());
  EXPECT_FALSE(compare_traces(first, second).agrees());
}

TEST(CompareTest, AWaitThatReturnsBeforeItsArrivalIsOutOfOrder) {
  const Trace first = trace({"producer_consumer", {}}, "round-robin");
  Trace second = first;
  std::vector<TraceOp>& ops = second.warps[1].ops;
  const auto wait = std::find_if(ops.begin(), ops.end(), [&](const TraceOp& op) {
    return op.op == Op::kMbarrierWait && second.names[op.object] == "ring.full[2]";
  });
  ASSERT_NE(wait, ops.end());
  wait->time = 1;
  const std::string text = text_of(compare_traces(first, second), "a", "b");
  EXPECT_THAT(text, HasSubstr("cta 0 warp 1 (consumer), out of order"));
  EXPECT_THAT(text, HasSubstr("waits for ring.full[2] phase 0"));
  EXPECT_THAT(text, HasSubstr("goes on before cta 0 warp 0 (producer) arrives on ring.full[2]"));
}

TEST(CompareTest, LossesAreSaid) {
  const Trace first = trace({"producer_consumer", {}}, "round-robin");
  Trace second = first;
  second.warps[1].overwritten = 3;
  second.warps[1].ops.erase(second.warps[1].ops.begin(), second.warps[1].ops.begin() + 3);
  const TraceComparison comparison = compare_traces(first, second);
  EXPECT_TRUE(comparison.agrees());
  EXPECT_FALSE(comparison.complete);
  EXPECT_THAT(text_of(comparison, "a", "b"), HasSubstr("lost 3 operations"));
}

TEST(CompareTest, DifferentLaunchesAreRefused) {
  const Trace ring = trace({"producer_consumer", {}}, "round-robin");
  EXPECT_THROW(compare_traces(ring, trace({"producer_consumer", {{"tiles", 3}}}, "round-robin")),
               ConfigError);
  EXPECT_THROW(compare_traces(ring, trace({"work_ring", {}}, "round-robin")), ConfigError);
}

// A broken kernel's trace ends where it hangs; the comparison and its replay end all the same.
TEST(CompareTest, BrokenScenariosAreComparedToo) {
  static const std::vector<ScenarioEntry> all = scenario_list();
  for (const ScenarioEntry& scenario : all) {
    if (scenario.info->kind == ScenarioKind::kBroken) {
      const Trace first = trace({scenario.info->name, {}}, "round-robin");
      std::stringstream file;
      write_trace(first, file);
      EXPECT_TRUE(compare_traces(first, read_trace(file)).agrees()) << scenario.info->name;
    }
  }
}

}  // namespace
}  // namespace warptwin::sim
