#include "sim/compare/compare.hpp"

#include <cmath>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/compare/replay.hpp"
#include "sim/trace/trace_file.hpp"
#include "tests/sim/compare/traces.hpp"

namespace warptwin::sim::compare_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

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

TraceOp& find_op(Trace& trace, std::uint32_t warp, Op op, const std::string& object) {
  for (TraceOp& one : trace.warps[warp].ops) {
    if (one.op == op && trace.names[one.object] == object) {
      return one;
    }
  }
  throw std::runtime_error("no such operation on " + object);
}

TEST(OrderTest, EveryScheduleHasTheOrderOfTheProof) {
  const std::vector<Settings> clean = {{"producer_consumer", {}},
                                       {"multicast_ring", {}},
                                       {"work_ring", {}},
                                       {"gemm_2sm", {{"m", 256}, {"n", 256}, {"k", 256}}},
                                       {"gemm", {{"m", 256}, {"n", 384}, {"k", 384}, {"ctas", 2}}}};
  for (const Settings& settings : clean) {
    const Trace proved = trace(settings, "round-robin");
    EXPECT_TRUE(proved.ordered) << settings.name;
    for (const char* schedule : {"random:1", "random:2", "pct:3:3:4096"}) {
      const TraceComparison comparison = compare_traces(proved, recorded(settings, schedule));
      EXPECT_TRUE(comparison.agrees()) << settings.name << " " << schedule << "\n"
                                       << text_of(comparison, "a", "b");
      EXPECT_GT(comparison.orders, comparison.operations / 2);
    }
  }
}

TEST(OrderTest, AWaitThatReturnsBeforeItsArrivalIsOutOfOrder) {
  const Trace proved = trace({"producer_consumer", {}}, "round-robin");
  Trace seen = recorded({"producer_consumer", {}}, "random:1");
  find_op(seen, 1, Op::kMbarrierWait, "ring.full[2]").time =
      find_op(seen, 0, Op::kMbarrierArrive, "ring.full[2]").time - 1;
  const TraceComparison comparison = compare_traces(proved, seen);
  ASSERT_FALSE(comparison.agrees());
  EXPECT_EQ(comparison.mismatches[0].where, "cta 0 warp 1 (consumer), out of order");
  EXPECT_THAT(comparison.mismatches[0].first,
              HasSubstr("cta 0 warp 1 (consumer) waits for ring.full[2] phase 0  "
                        "[scenarios/producer_consumer.hpp"));
  EXPECT_THAT(comparison.mismatches[0].first, HasSubstr("in every run after cta 0 warp 0"));
  EXPECT_THAT(comparison.mismatches[0].second, HasSubstr("cycles before cta 0 warp 0 (producer)"));
}

// What the wait knows through a copy alone.
TEST(OrderTest, ALoadThatIsIssuedAfterItsDataIsTakenIsOutOfOrder) {
  const Settings settings{"gemm", {{"m", 128}, {"n", 128}, {"k", 256}}};
  const Trace proved = trace(settings, "round-robin");
  Trace seen = recorded(settings, "random:4");
  const std::uint32_t mma = 4;
  const std::uint32_t load = 5;
  const std::uint64_t taken = find_op(seen, mma, Op::kMbarrierWait, "input.full[3]").time;
  std::vector<TraceOp>& ops = seen.warps[load].ops;
  for (TraceOp& op : ops) {
    const bool last = op.op == Op::kTensorLoad && seen.names[op.on] == "input.full[3]";
    op.time = last ? taken + 5 : op.time;
  }
  const std::string text = text_of(compare_traces(proved, seen), "proved", "seen");
  EXPECT_THAT(text, HasSubstr("mismatch: cta 0 warp 4 (mma), out of order"));
  EXPECT_THAT(text, HasSubstr("waits for input.full[3] phase 0"));
  EXPECT_THAT(text, HasSubstr("5 cycles before cta 0 warp 5 (load) loads"));
}

TEST(OrderTest, AClockThatGoesBackIsOutOfOrder) {
  const Trace proved = trace({"producer_consumer", {}}, "round-robin");
  Trace seen = recorded({"producer_consumer", {}}, "round-robin");
  seen.warps[0].ops[3].time = seen.warps[0].ops[2].time - 1;
  EXPECT_THAT(text_of(compare_traces(proved, seen), "proved", "seen"),
              HasSubstr("cta 0 warp 0 (producer), out of order"));
}

// The clocks of two SMs start anyhow, and run alike.
TEST(OrderTest, OrderBetweenSmsIsCheckedUpToADifferenceOfTheirClocks) {
  const Trace proved = trace({"multicast_ring", {}}, "round-robin");
  Trace seen = recorded({"multicast_ring", {}}, "random:1");
  const std::uint32_t per_cta = seen.warps_per_cta();
  const auto shift = [&](std::uint64_t from, std::uint64_t by) {
    for (std::uint32_t warp = per_cta; warp < 2 * per_cta; ++warp) {
      for (TraceOp& op : seen.warps[warp].ops) {
        op.time += op.time >= from ? by : 0;
      }
    }
  };
  shift(0, 0xFFFFF000U);  // over the end of 32 bits
  EXPECT_TRUE(compare_traces(proved, seen).agrees());
  shift(0xFFFFF000U + seen.warps[0].ops.back().time / 2, 100'000);
  const std::string text = text_of(compare_traces(proved, seen), "proved", "seen");
  EXPECT_THAT(text, HasSubstr("cta 0 and cta 1, out of order"));
  EXPECT_THAT(text, HasSubstr("no difference of the clocks of cta 0 and cta 1 allows both"));
  EXPECT_THAT(text, HasSubstr("in every run after cta 1 warp"));
}

// Emulated products take seconds: the 32 bits that are recorded begin anew meanwhile.
TEST(OrderTest, AWaitMayTakeMoreThanHalfOfTheClocksBits) {
  constexpr std::uint64_t kWaits = 4'200'000'000;
  const Trace proved = trace({"producer_consumer", {}}, "round-robin");
  Trace seen = recorded({"producer_consumer", {}}, "round-robin");
  TraceOp& wait = find_op(seen, 1, Op::kMbarrierWait, "ring.full[2]");
  const std::uint64_t from = find_op(seen, 0, Op::kMbarrierArrive, "ring.full[2]").time;
  ASSERT_LT(from, wait.time);
  for (WarpTrace& warp : seen.warps) {
    for (TraceOp& op : warp.ops) {
      op.time = static_cast<std::uint32_t>(op.time + (op.time >= from ? kWaits : 0));
    }
  }
  EXPECT_TRUE(compare_traces(proved, seen).agrees());
  wait.time = static_cast<std::uint32_t>(from + kWaits - 5);
  EXPECT_THAT(text_of(compare_traces(proved, seen), "proved", "seen"),
              HasSubstr("cta 0 warp 1 (consumer), out of order"));
}

TEST(OrderTest, WithoutAProofWaitsAreHeldAgainstTheirArrivals) {
  const Trace first = recorded({"producer_consumer", {}}, "round-robin");
  Trace second = first;
  find_op(second, 1, Op::kMbarrierWait, "ring.full[2]").time = 1;
  const std::string text = text_of(compare_traces(first, second), "a", "b");
  EXPECT_THAT(text, HasSubstr("cta 0 warp 1 (consumer), out of order"));
  EXPECT_THAT(text, HasSubstr("waits for ring.full[2] phase 0"));
  EXPECT_THAT(text, HasSubstr("goes on before cta 0 warp 0 (producer) arrives on ring.full[2]"));
  EXPECT_THAT(text, HasSubstr("note: neither trace has the order of a proof"));
}

TEST(OrderTest, WhatIsNotProvedHasNoOrder) {
  EXPECT_FALSE(trace({"producer_starts_parity_zero", {}}, "round-robin").ordered);
  EXPECT_FALSE(trace({"missing_drain", {}}, "round-robin").ordered);
}

TEST(ValueTest, EnginesAddUpInTheSameOrderInEverySchedule) {
  const Trace first = with_values(kSmallGemm, "round-robin");
  const TraceComparison comparison = compare_traces(first, with_values(kSmallGemm, "random:3"));
  EXPECT_TRUE(comparison.agrees()) << text_of(comparison, "a", "b");
  ASSERT_EQ(comparison.values.size(), 1U);
  EXPECT_EQ(comparison.values[0].name, "d");
  EXPECT_EQ(comparison.values[0].same, 160U * 128U);
  EXPECT_EQ(comparison.loads, 2U * 3U * 2U);  // tiles, k steps, operands
}

TEST(ValueTest, TheBoundFollowsFromTheProductsAndTheFormat) {
  const Trace first = with_values(kSmallGemm, "round-robin");
  ASSERT_EQ(first.outputs.size(), 1U);
  const TraceOutput& d = first.outputs[0];
  EXPECT_EQ(d.terms, 192U);
  // The mean of |a| |b| over [-1, 1) is a quarter; the largest of all sums is above it.
  EXPECT_GT(d.magnitude, 0.25 * 192);
  EXPECT_LT(d.magnitude, 0.5 * 192);
  Trace second = first;
  second.source = "hardware";
  const double x = static_cast<double>(d.at(3, 5));
  const double bound =
      2 * std::abs(x) * std::ldexp(1.0, -8) + 2 * 192 * std::ldexp(1.0, -23) * d.magnitude;
  float& changed = second.outputs[0].values[3 * 128 + 5];
  changed = static_cast<float>(x + 0.9 * bound);
  EXPECT_TRUE(compare_traces(first, second).agrees());
  EXPECT_EQ(compare_traces(first, second).values[0].same, 160U * 128U - 1);
  changed = static_cast<float>(x + 1.1 * bound);
  EXPECT_FALSE(compare_traces(first, second).agrees());
  second.source = "timed";  // one arithmetic: no bound
  changed = std::nextafter(d.at(3, 5), 1e9F);
  EXPECT_FALSE(compare_traces(first, second).agrees());
}

TEST(ValueTest, TheFirstWrongElementIsSaidWithWhoStoredIt) {
  const Trace first = with_values(kSmallGemm, "round-robin");
  Trace second = first;
  second.outputs[0].values[130 * 128 + 70] += 1;
  second.outputs[0].values[131 * 128 + 2] += 1;
  const TraceComparison comparison = compare_traces(first, second);
  ASSERT_EQ(comparison.mismatches.size(), 1U);
  EXPECT_THAT(comparison.mismatches[0].where,
              HasSubstr("d[130, 70], row 2, column 6 of the box of 32 x 64 that cta 1 warp "));
  EXPECT_THAT(comparison.mismatches[0].where, HasSubstr("(epilogue) "));
  EXPECT_THAT(comparison.mismatches[0].where, HasSubstr("scenarios/gemm.hpp:"));
  EXPECT_EQ(comparison.values[0].beyond, 2U);
}

TEST(ValueTest, CopiesAreTheSameBitForBitOnAnyMachine) {
  const Trace first = with_values({"producer_consumer", {}}, "round-robin");
  Trace second = first;
  second.source = "hardware";
  EXPECT_TRUE(compare_traces(first, second).agrees());
  float& value = second.outputs[0].values[7];
  value = std::nextafter(value, 2.0F);
  EXPECT_FALSE(compare_traces(first, second).agrees());
}

TEST(ValueTest, ProductsOfWarpgroupsAreHeldToTheBoundToo) {
  const Settings settings = {"gemm_wgmma", {{"m", 128}, {"n", 128}, {"k", 64}}};
  const Trace first = with_values(settings, "round-robin");
  Trace second = first;
  second.source = "hardware";
  float& value = second.outputs[0].values[7];
  value *= 1 + 0x1p-8F;
  EXPECT_TRUE(compare_traces(first, second).agrees());
  second.source = first.source;
  EXPECT_FALSE(compare_traces(first, second).agrees());
}

TEST(ValueTest, TheStageThatWasFilledWithOtherBytesIsNamed) {
  const Trace first = with_values({"producer_consumer", {}}, "round-robin");
  Trace second = first;
  TraceOp& load = find_op(second, 0, Op::kTensorLoad, "ring.tile[2]");
  load.data ^= 1;
  const TraceComparison comparison = compare_traces(first, second);
  ASSERT_EQ(comparison.mismatches.size(), 1U);
  EXPECT_THAT(comparison.mismatches[0].where, HasSubstr("cta 0 warp 0 (producer), operation 17"));
  EXPECT_THAT(comparison.mismatches[0].where, HasSubstr("ring.tile[2]"));
  EXPECT_THAT(comparison.mismatches[0].first, HasSubstr("bytes of checksum"));
}

TEST(ValueTest, WhatWasComputedFromOtherInputsIsNotCompared) {
  const Trace first = with_values({"producer_consumer", {}}, "round-robin");
  const TraceComparison seeds =
      compare_traces(first, with_values({"producer_consumer", {}}, "round-robin", 2));
  EXPECT_TRUE(seeds.agrees());
  EXPECT_THAT(text_of(seeds, "a", "b"), HasSubstr("the inputs are of seeds 1 and 2"));
  const TraceComparison none =
      compare_traces(first, trace({"producer_consumer", {}}, "round-robin"));
  EXPECT_THAT(text_of(none, "a", "b"), HasSubstr("has none; record it with --values"));
}

TEST(TimeTest, RolesAndTheLargestDeviationAreSaid) {
  Trace first = recorded({"producer_consumer", {}}, "round-robin");
  Trace second = first;
  EXPECT_TRUE(compare_traces(first, second).agrees());
  // Every wait of the consumer for stage 1 takes a hundred cycles more.
  std::uint64_t late = 0;
  for (TraceOp& op : second.warps[1].ops) {
    const bool waits = op.op == Op::kMbarrierWait && second.names[op.object] == "ring.full[1]";
    late += waits ? 100 : 0;
    op.time += late;
  }
  const TraceComparison comparison = compare_traces(first, second);
  ASSERT_EQ(comparison.times.roles.size(), 2U);
  EXPECT_EQ(comparison.times.roles[0].total.ratio(), 1.0);
  const Interval& consumer = comparison.times.roles[1].total;
  EXPECT_EQ(consumer.second - consumer.first, 400);
  ASSERT_FALSE(comparison.times.steps.empty());
  EXPECT_EQ(comparison.times.steps[0].role, "consumer");
  EXPECT_EQ(comparison.times.steps[0].step, "waits for ring.full[1]");
  EXPECT_EQ(comparison.times.steps[0].count, 4U);
  EXPECT_EQ(comparison.times.steps[0].total.second - comparison.times.steps[0].total.first, 400);
  EXPECT_THAT(text_of(comparison, "a", "b"), HasSubstr("consumer waits for ring.full[1], 4 times"));
}

TEST(TimeTest, AnEmulatedTensorCoreHasNoTimes) {
  Trace first = recorded({"gemm", {{"m", 128}, {"n", 128}, {"k", 64}}}, "round-robin");
  EXPECT_FALSE(compare_traces(first, first).times.roles.empty());
  Trace second = first;
  second.emulated = {"tcgen05.mma"};
  const TraceComparison comparison = compare_traces(first, second);
  EXPECT_TRUE(comparison.times.roles.empty());
  EXPECT_THAT(text_of(comparison, "a", "b"), HasSubstr("times are not compared"));
}

TEST(TimeTest, StepsAreNoCycles) {
  const Trace first = trace({"producer_consumer", {}}, "round-robin");
  EXPECT_TRUE(compare_traces(first, first).times.roles.empty());
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
// Where warps arrive without having waited, the second arrival of one may count before the first
// of another: no order of the phases is right then, on that barrier and on no other.
TEST(CompareTest, BrokenScenariosAreComparedToo) {
  const std::map<std::string_view, const char*> crosses_laps{
      {"attention_stats_overwritten", "stats.full["},
      {"gemm_blockwise_fp8_accum_per_tile", "input.empty["},
      {"gemm_epilogue_load_clc_counts_three_readers", "clc.empty["},
      {"gemm_grouped_1d1d_six_warps_free_tiles", "work.empty["},
      {"gemm_wgmma_pingpong_no_order", "input."},
  };
  static const std::vector<ScenarioEntry> all = scenario_list();
  for (const ScenarioEntry& scenario : all) {
    if (scenario.info->kind == ScenarioKind::kBroken) {
      const Trace first = trace({scenario.info->name, {}}, "round-robin");
      std::stringstream file;
      write_trace(first, file);
      const std::string_view name = scenario.info->name;
      const TraceComparison comparison = compare_traces(first, read_trace(file));
      const auto crossed = crosses_laps.find(name);
      EXPECT_EQ(comparison.agrees(), crossed == crosses_laps.end()) << name;
      for (const Mismatch& mismatch : comparison.mismatches) {
        ASSERT_TRUE(crossed != crosses_laps.end()) << name << ": " << mismatch.where;
        EXPECT_THAT(mismatch.where, HasSubstr("out of order")) << name;
        EXPECT_THAT(mismatch.first + mismatch.second, HasSubstr(crossed->second)) << name;
      }
    }
  }
}

}  // namespace
}  // namespace warptwin::sim::compare_test
