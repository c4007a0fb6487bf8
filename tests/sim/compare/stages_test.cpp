// What waits see of the stages, in traces that are compared.

#include <set>
#include <span>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/trace/checksum.hpp"

#include "sim/compare/compare.hpp"
#include "sim/trace/recorder.hpp"
#include "tests/sim/compare/traces.hpp"

namespace warptwin::sim::compare_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// A place that loads fill which count on a barrier: addresses, and ranks of CTAs.
struct Watched {
  std::uint32_t barrier = 0;
  std::uint32_t owner = 0;
  std::uint32_t place = 0;
  std::uint32_t rank = 0;
  std::uint32_t bytes = 0;
  friend auto operator<=>(const Watched&, const Watched&) = default;
};

// Records as a GPU does: nothing of what loads write, and at each wait what lies where loads write
// that count on its barrier.
class Watching : public EventSink {
 public:
  Watching(Trace& trace, const Symbols& symbols) : trace_{trace}, recorder_{trace, symbols} {}

  void on_event(const Event& event) override {
    recorder_.on_event(event);
    const bool copies = event.op == Op::kTensorLoad || event.op == Op::kBulkLoad;
    const bool waits = event.op == Op::kMbarrierWait || event.op == Op::kMbarrierTryWait;
    if (copies && event.step == Step::kIssued) {
      watched.insert({event.signal().barrier,
                      event.signal().barrier_cta % trace_.cluster_size,
                      event.address,
                      event.cta % trace_.cluster_size,
                      event.bytes});
      trace_.warps[event.warp].ops.back().address = event.address;
    }
    if (waits && event.step == Step::kDone && (event.flags & event_flag::kFalse) == 0 &&
        (event.flags & event_flag::kLateLanes) == 0 && gpu != nullptr) {
      look(event);
    }
  }

  Gpu* gpu = nullptr;  // null: waits are not looked at, and `watched` is found out
  std::set<Watched> watched;

 private:
  void look(const Event& event) {
    const std::uint32_t size = trace_.cluster_size;
    WarpTrace& warp = trace_.warps[event.warp];
    for (const Watched& one : watched) {
      if (one.barrier != event.address || one.owner != event.cta % size) {
        continue;
      }
      const std::uint32_t number = event.cta - event.cta % size + one.rank;
      for (const Cta& cta : gpu->ctas()) {
        if (cta.number == number) {
          const std::span<const std::byte> all{cta.shared};
          warp.tokens.push_back({static_cast<std::uint32_t>(warp.ops.size() - 1),
                                 number,
                                 trace_.name(gpu->symbols().name(one.place)),
                                 one.place,
                                 one.bytes,
                                 checksum(all.subspan(one.place, one.bytes))});
        }
      }
    }
  }

  Trace& trace_;
  TraceRecorder recorder_;
};

Trace with_tokens(const Settings& settings,
                  const std::string& schedule,
                  bool clc_from_the_end = false) {
  const ScenarioEntry& scenario = entry(settings.name);
  ParameterSet parameters{scenario.parameters};
  for (const auto& [name, value] : settings.set) {
    parameters.set(name, value);
  }
  const Symbols symbols = scenario.symbols(parameters);
  RunOptions options;
  options.detect = false;
  options.schedule = ScheduleSpec::parse(schedule);
  options.clc_from_the_end = clc_from_the_end;
  std::set<Watched> watched;
  Trace trace;
  for (const bool looks : {false, true}) {
    trace = trace_of_launch(launch_config(scenario, parameters, options), symbols);
    Watching watching{trace, symbols};
    watching.watched = watched;
    options.moves_data = looks;
    options.observer = &watching;
    options.on_machine = [&](Gpu& gpu) { watching.gpu = looks ? &gpu : nullptr; };
    const RunResult result = simulate(scenario, parameters, options);
    trace.ending = result.end == Ending::kDone ? "done" : "hang";
    trace.scenario = scenario.info->name;
    trace.parameters = parameters.to_string();
    trace.source = "hardware";
    trace.clock = TraceClock::kCycles;
    trace.seed = options.input_seed;
    add_outputs(trace, scenario, parameters, result.tensors);
    watched = watching.watched;
  }
  return trace;
}

TEST(StageTest, WhatWaitsSeeIsWhatTheLoadsWrote) {
  const std::vector<Settings> clean = {
      {"producer_consumer", {{"tiles", 7}, {"stages", 3}}},
      {"multicast_ring", {}},
      {"work_ring", {}},
      kSmallGemm,
      {"gemm_2sm", {{"m", 512}, {"n", 256}, {"k", 128}, {"cluster_m", 4}}},
      {"gemm_epilogue_load", {{"m", 160}, {"n", 128}, {"k", 128}}},
      {"attention", {{"q", 256}, {"kv", 256}}},
  };
  for (const Settings& settings : clean) {
    const Trace first = with_values(settings, "round-robin");
    for (const char* schedule : {"random:1", "pct:3:3:4096"}) {
      const Trace second = with_tokens(settings, schedule);
      const TraceComparison comparison = compare_traces(first, second);
      const std::string text = text_of(comparison, "a", "b");
      EXPECT_TRUE(comparison.agrees()) << settings.name << " " << schedule << "\n" << text;
      EXPECT_TRUE(comparison.complete) << settings.name << " " << schedule << "\n" << text;
      EXPECT_GT(comparison.loads, 0U) << settings.name;
      EXPECT_GE(comparison.tokens, comparison.loads) << settings.name;
      EXPECT_TRUE(compare_traces(second, first).agrees()) << settings.name;
      EXPECT_THAT(text, HasSubstr(", as seen by waits"));
    }
  }
}

// One byte of one stage, as one wait saw it.
TEST(StageTest, AStageOfOtherBytesIsSaidWithWhoLoadedAndWhoWaited) {
  const Trace first = with_values({"producer_consumer", {}}, "round-robin");
  Trace second = with_tokens({"producer_consumer", {}}, "random:1");
  std::vector<TraceToken>& tokens = second.warps[1].tokens;
  ASSERT_EQ(tokens.size(), 16U);
  tokens[6].data ^= 1;
  tokens[9].data ^= 1;
  const TraceComparison comparison = compare_traces(first, second);
  ASSERT_EQ(comparison.mismatches.size(), 1U);
  const Mismatch& mismatch = comparison.mismatches[0];
  EXPECT_EQ(mismatch.where, "ring.full[2] of cta 0, phase 1: 4096 bytes in ring.tile[2]");
  EXPECT_THAT(mismatch.first,
              AllOf(HasSubstr("bytes of checksum "),
                    HasSubstr(", the box of 32 x 128 bytes at row 192, byte 0 of source: "),
                    HasSubstr(": cta 0 warp 0 (producer) loads 4096 bytes into ring.tile[2], "
                              "signalling ring.full[2]  [scenarios/producer_consumer.hpp:")));
  EXPECT_THAT(mismatch.second,
              HasSubstr(", when cta 0 warp 1 (consumer) waits for ring.full[2] phase 1  ["));
  EXPECT_EQ(comparison.loads, 16U);
  // The other way round: what is known stays on its side.
  const TraceComparison back = compare_traces(second, first);
  ASSERT_EQ(back.mismatches.size(), 1U);
  EXPECT_EQ(back.mismatches[0].second, mismatch.first);
}

// Partial sums of another split: a GPU adds up in its own order.
TEST(StageTest, WhatTheKernelHasComputedItselfIsPassedOverWhereSumsMayDiffer) {
  const Settings settings = {"gemm_split_k", {{"m", 128}, {"n", 128}, {"k", 256}}};
  const Trace first = with_values(settings, "round-robin");
  Trace second = with_tokens(settings, "round-robin");
  std::uint64_t changed = 0;
  for (WarpTrace& warp : second.warps) {
    for (TraceToken& token : warp.tokens) {
      if (second.names[warp.ops[token.at].object].rfind("source.full", 0) == 0) {
        token.data ^= 1;
        ++changed;
      }
    }
  }
  ASSERT_GT(changed, 0U);
  second.source = first.source;
  EXPECT_FALSE(compare_traces(first, second).agrees());
  second.source = "hardware";
  const TraceComparison comparison = compare_traces(first, second);
  EXPECT_TRUE(comparison.agrees()) << text_of(comparison, "a", "b");
  EXPECT_GT(comparison.loads, 0U);
}

TEST(StageTest, BytesOfAnEarlierPhaseAreSaidToBe) {
  const Trace first = with_values({"producer_consumer", {}}, "round-robin");
  Trace second = with_tokens({"producer_consumer", {}}, "round-robin");
  std::vector<TraceToken>& tokens = second.warps[1].tokens;
  tokens[6].data = tokens[2].data;
  const TraceComparison comparison = compare_traces(first, second);
  ASSERT_EQ(comparison.mismatches.size(), 1U);
  EXPECT_THAT(comparison.mismatches[0].second, HasSubstr("; those are the bytes of phase 0"));
}

TEST(StageTest, BytesInThePeerOfAPairAreItsOwn) {
  const Settings settings{"gemm_2sm", {{"m", 256}, {"n", 256}, {"k", 256}}};
  const Trace first = with_values(settings, "round-robin");
  Trace second = with_tokens(settings, "random:1");
  for (WarpTrace& warp : second.warps) {
    for (TraceToken& token : warp.tokens) {
      token.data ^= token.cta == 1 ? 1 : 0;
    }
  }
  const TraceComparison comparison = compare_traces(first, second);
  ASSERT_FALSE(comparison.agrees());
  EXPECT_THAT(comparison.mismatches[0].where, HasSubstr("input.full[0] of cta 0, phase 0: "));
  EXPECT_THAT(comparison.mismatches[0].where, HasSubstr("in input.tile[0] of cta 1"));
  EXPECT_THAT(comparison.mismatches[0].first, HasSubstr("cta 1 warp 5 (load) loads"));
  EXPECT_THAT(comparison.mismatches[0].second, HasSubstr("cta 0 warp 4 (mma) waits for"));
}

TEST(StageTest, LoadsThatNoWaitSawAreCounted) {
  const Trace first = with_values({"producer_consumer", {}}, "round-robin");
  Trace second = with_tokens({"producer_consumer", {}}, "random:1");
  second.warps[1].tokens.erase(second.warps[1].tokens.begin() + 3);
  const TraceComparison comparison = compare_traces(first, second);
  EXPECT_TRUE(comparison.agrees());
  EXPECT_FALSE(comparison.complete);
  EXPECT_EQ(comparison.loads, 15U);
  EXPECT_THAT(text_of(comparison, "a", "b"),
              HasSubstr("no wait is known to have seen the data of 1 load\n"));
}

TEST(StageTest, WhatIsNotComparedIsSaid) {
  const Trace first = with_values({"producer_consumer", {}}, "round-robin");
  Trace second = with_tokens({"producer_consumer", {}}, "random:1");
  second.warps[0].lost = 1;
  const std::string lost = text_of(compare_traces(first, second), "a", "b");
  EXPECT_THAT(lost, HasSubstr("the data of stages is not compared: operations were lost"));
  second.warps[0].lost = 0;
  second.warps[1].tokens.clear();
  const TraceComparison none = compare_traces(first, second);
  EXPECT_TRUE(none.agrees());
  EXPECT_EQ(none.loads, 0U);
  EXPECT_THAT(text_of(none, "a", "b"),
              HasSubstr("the data of loads is not compared: the trace of the hardware has none"));
}

// What lies where no load of the phase writes is older, or another barrier's.
TEST(StageTest, PlacesThatNoLoadFilledForThePhaseAreNotLookedAt) {
  const Trace first = with_values({"producer_consumer", {}}, "round-robin");
  Trace second = with_tokens({"producer_consumer", {}}, "round-robin");
  std::vector<TraceToken>& tokens = second.warps[1].tokens;
  TraceToken elsewhere = tokens[0];
  elsewhere.address += 4096;
  elsewhere.data = 7;
  TraceToken part = tokens[0];
  part.bytes /= 2;
  part.data = 7;
  tokens.insert(tokens.begin() + 1, {elsewhere, part});
  const TraceComparison comparison = compare_traces(first, second);
  EXPECT_TRUE(comparison.agrees()) << text_of(comparison, "a", "b");
  EXPECT_TRUE(comparison.complete);
  EXPECT_EQ(comparison.tokens, 16U);
}

TEST(StageTest, TwoRecordingsOfWaitsAreCompared) {
  const Settings settings{"multicast_ring", {}};
  const Trace first = with_tokens(settings, "random:1");
  Trace second = with_tokens(settings, "random:2");
  const TraceComparison same = compare_traces(first, second);
  EXPECT_TRUE(same.agrees()) << text_of(same, "a", "b");
  EXPECT_EQ(same.loads, 64U);
  for (WarpTrace& warp : second.warps) {
    if (!warp.tokens.empty()) {
      warp.tokens.back().data ^= 1;
    }
  }
  EXPECT_FALSE(compare_traces(first, second).agrees());
}

// Which cluster claims which tile is free, and so where a box lands, and for which phase.
TEST(StageTest, BoxesOfClaimedTilesAreFoundWhereverTheyLand) {
  const Settings settings{"gemm_persistent", {{"m", 768}, {"n", 512}, {"k", 128}, {"resident", 2}}};
  const Trace first = with_values(settings, "round-robin");
  Trace second = with_tokens(settings, "round-robin", true);
  const TraceComparison same = compare_traces(first, second);
  EXPECT_TRUE(same.agrees()) << text_of(same, "a", "b");
  EXPECT_TRUE(same.complete) << text_of(same, "a", "b");
  EXPECT_EQ(same.loads, 6U * 2U * 4U);  // tiles, k steps, boxes of a pair
  // The same of engines alone, which know the loads.
  const TraceComparison engines = compare_traces(first, with_values(settings, "random:1"));
  EXPECT_TRUE(engines.agrees()) << text_of(engines, "a", "b");
  EXPECT_EQ(engines.loads, same.loads);
  for (WarpTrace& warp : second.warps) {
    if (!warp.tokens.empty()) {
      warp.tokens.back().data ^= 1;
    }
  }
  const TraceComparison other = compare_traces(first, second);
  ASSERT_FALSE(other.agrees());
  EXPECT_FALSE(other.complete);
  EXPECT_THAT(other.mismatches[0].where, HasSubstr("input.full["));
  EXPECT_THAT(other.mismatches[0].first,
              HasSubstr("no load, or fewer, brings such bytes to input"));
  EXPECT_THAT(other.mismatches[0].second, HasSubstr("(mma) waits for input.full["));
}

// Its barriers are as they should be in every phase; what the consumer takes is not there yet.
TEST(StageTest, AStageThatIsTakenBeforeItIsFilledIsFound) {
  const Trace first = with_values({"expect_after_arrive", {}}, "round-robin");
  std::uint32_t found = 0;
  for (std::uint32_t seed = 1; seed <= 10; ++seed) {
    const Trace second = with_tokens({"expect_after_arrive", {}}, "random:" + std::to_string(seed));
    for (const Mismatch& mismatch : compare_traces(first, second).mismatches) {
      found += mismatch.where.rfind("ring.full[", 0) == 0 &&
                       mismatch.where.find(": 4096 bytes in ring.tile[") != std::string::npos
                   ? 1
                   : 0;
    }
  }
  EXPECT_GT(found, 0U);
}

TEST(StageTest, WaitsThatReadHaveNoTimes) {
  Trace first = recorded({"producer_consumer", {}}, "round-robin");
  Trace second = with_tokens({"producer_consumer", {}}, "round-robin");
  const TraceComparison comparison = compare_traces(first, second);
  EXPECT_TRUE(comparison.times.roles.empty());
  EXPECT_THAT(text_of(comparison, "a", "b"),
              HasSubstr("times are not compared: the waits of the hardware read their stages"));
}

}  // namespace
}  // namespace warptwin::sim::compare_test
