/// Each unit alone: what it is asked for is not there a tick before its time, and is there at it.

#include <algorithm>
#include <functional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/timed/modules/fabric.hpp"
#include "sim/timed/modules/gap_port.hpp"
#include "sim/timed/modules/mbarrier_unit.hpp"
#include "sim/timed/modules/tma_engine.hpp"
#include "sim/timed/modules/tmem_ports.hpp"
#include "sim/timed/modules/warp_issue.hpp"
#include "sim/timed/modules/warpgroup_mma.hpp"
#include "sim/timed/simulation.hpp"

namespace warptwin::sim::units_test {
namespace {

using testing::ElementsAre;
using testing::Pair;

/// One unit's surroundings: a simulation, a chip to change before units are made, and a record.
class UnitTest : public testing::Test, protected Completions {
 protected:
  void step(AgentSlot slot) override { steps.push_back(slot.number()); }

  static void pass(Ticks ticks) {
    sc_core::sc_start(time_of(ticks));
    set_now(sc_core::sc_time_stamp().value());
  }
  /// Nothing more until a tick before `cycles`, then `slot`.
  void expect_step_at(double cycles, std::uint32_t slot) {
    const std::size_t before = steps.size();
    pass(to_ticks(cycles) - now());
    EXPECT_EQ(steps.size(), before) << "too early: before cycle " << cycles;
    pass(1);
    ASSERT_EQ(steps.size(), before + 1) << "not at cycle " << cycles;
    EXPECT_EQ(steps.back(), slot);
  }

  Simulation simulation;
  Timeline timeline{"timeline", 0, 1};
  Turns turns{"turns"};
  Chip chip = load_chip("b200");
  std::vector<std::uint32_t> steps;  // numbers of agents
};

/// Somebody on a timeline: does what he is told to when he is called, and at his turn.
struct Caller : Callee, Asker {
  void call(std::uint32_t what) override {
    calls.emplace_back(now(), what);
    if (then) {
      then();
    }
  }
  void turn() override { at_turn(); }

  std::vector<std::pair<Ticks, std::uint32_t>> calls;
  std::function<void()> then;
  std::function<void()> at_turn;
};

class TimelineTest : public UnitTest {
 protected:
  static constexpr Ticks kWindow = 100;

  Timeline first{"first", 1, kWindow};
  Timeline second{"second", 2, kWindow};
  Caller one;
  Caller two;
  std::vector<std::pair<int, Ticks>> order;  // who, and when
};

TEST_F(TimelineTest, CallsInTheOrderOfTimeAndOfTickets) {
  const std::uint64_t kept = first.tickets(1);
  first.at(250, one, 3);
  first.at(250, one, 4);
  first.at(30, one, 1);
  first.at(250, one, 2, kept);
  simulation.run();
  EXPECT_THAT(one.calls, ElementsAre(Pair(30, 1), Pair(250, 2), Pair(250, 3), Pair(250, 4)));
  EXPECT_EQ(first.latest(), 250U);
}

TEST_F(TimelineTest, NobodyIsCalledInThePast) {
  first.at(250, one);
  simulation.run();
  EXPECT_EXIT(first.at(249, one), testing::ExitedWithCode(3), "clocks only grow");
}

TEST_F(TimelineTest, TimelinesRunAheadWithinAWindow) {
  one.then = [&] { order.emplace_back(1, now()); };
  two.then = [&] { order.emplace_back(2, now()); };
  for (const Ticks when : {10, 99, 100}) {
    first.at(when, one);
    second.at(when, two);
  }
  simulation.run();
  // In a window one of them runs all of it, then the other; who is first is left open.
  const auto of = [&](int who, std::size_t from) {
    return std::all_of(order.begin() + from, order.begin() + from + 2, [&](const auto& call) {
      return call.first == who;
    });
  };
  ASSERT_EQ(order.size(), 6U);
  EXPECT_TRUE((of(1, 0) && of(2, 2)) || (of(2, 0) && of(1, 2)));
  EXPECT_EQ(order[3].second, 99U);
  EXPECT_EQ(order[4].second, 100U);
}

TEST_F(TimelineTest, TimeGoesOnIfNothingElseHappensBeforeInTheWindow) {
  std::vector<bool> passed;
  one.then = [&] {
    if (one.calls.size() == 1) {
      passed = {first.pass_to(50), first.pass_to(49)};
      EXPECT_EQ(now(), 49U);
    } else {
      passed.insert(passed.end(), {first.pass_to(100), first.pass_to(99)});
    }
  };
  first.at(10, one);
  first.at(50, one);
  simulation.run();
  EXPECT_THAT(passed, ElementsAre(false, true, false, true));
}

TEST_F(TimelineTest, TurnsAreTakenInTheOrderOfTimeWhoeverRanFirst) {
  one.at_turn = [&] { order.emplace_back(1, now()); };
  two.at_turn = [&] { order.emplace_back(2, now()); };
  one.then = [&] { turns.ask(first, one, now() + kWindow); };
  two.then = [&] { turns.ask(second, two, now() + kWindow); };
  first.at(20, one);
  first.at(60, one);
  second.at(10, two);
  second.at(70, two);
  simulation.run();
  EXPECT_THAT(order, ElementsAre(Pair(2, 10), Pair(1, 20), Pair(1, 60), Pair(2, 70)));
}

TEST_F(TimelineTest, WhoAsksInTheSameTickIsFirstAsOftenAsAnother) {
  one.at_turn = [&] { order.emplace_back(1, now()); };
  two.at_turn = [&] { order.emplace_back(2, now()); };
  one.then = [&] { turns.ask(first, one); };
  two.then = [&] { turns.ask(second, two); };
  constexpr int kTimes = 1000;
  for (int i = 0; i < kTimes; ++i) {
    first.at(static_cast<Ticks>(512 * i), one);
    second.at(static_cast<Ticks>(512 * i), two);
  }
  simulation.run();
  int before = 0;
  for (std::size_t i = 0; i < order.size(); i += 2) {
    EXPECT_EQ(order[i].second, order[i + 1].second);
    before += order[i].first == 1 ? 1 : 0;
  }
  EXPECT_NEAR(before, kTimes / 2, kTimes / 10);
}

// What may follow in the window that runs holds the timeline until the turn, and no other.
TEST_F(TimelineTest, WhatFollowsInTheWindowPausesTheTimeline) {
  std::vector<std::size_t> calls_before;
  one.at_turn = [&] { calls_before.push_back(one.calls.size()); };
  one.then = [&] {
    if (one.calls.size() % 2 == 1) {
      turns.ask(first, one, one.calls.size() == 1 ? kWindow - 1 : 2 * kWindow);
    }
  };
  for (const Ticks when : {10, 20, 110, 120}) {
    first.at(when, one);
    second.at(when, two);
  }
  two.then = [&] { order.emplace_back(2, now()); };
  simulation.run();
  EXPECT_THAT(calls_before, ElementsAre(1, 4));
  EXPECT_EQ(one.calls.size(), 4U);
  EXPECT_EQ(order.size(), 4U);
}

// Asked twice in one call, the timeline goes on behind both turns.
TEST_F(TimelineTest, APausedTimelineGoesOnBehindItsLastTurn) {
  one.at_turn = [&] { order.emplace_back(1, now()); };
  one.then = [&] {
    order.emplace_back(0, now());
    if (one.calls.size() == 1) {
      turns.ask(first, one);
      turns.ask(first, one);
    }
  };
  first.at(10, one);
  first.at(20, one);
  simulation.run();
  EXPECT_THAT(order, ElementsAre(Pair(0, 10), Pair(1, 10), Pair(1, 10), Pair(0, 20)));
}

class TmaTest : public UnitTest {
 protected:
  void SetUp() override {
    chip.tma_row = 1;
    chip.tma_instruction = 58;
    chip.tma_store_row = 1;
    chip.tma_store_instruction = 70;
    chip.tma_latency = 300;
    chip.tma_latency_per_row_byte = 0.5;
    chip.tma_store_latency = 350;
    chip.smem_conflict = 0.5;
    chip.l2_rate = 1e9;
  }
  CopyTargetPort to(std::uint32_t slot, SharedMemory& memory) { return {AgentSlot{slot}, &memory}; }
};

TEST_F(TmaTest, ALoadTakesItsRowsAndTheLatency) {
  SharedMemory shared{"shared", chip};
  MemorySystem memory{"memory", chip, 1.0, true};
  TmaEngine tma{"tma", timeline, turns, chip, {}, shared, memory, *this};
  tma.load(0, {128, 128, 1}, {to(5, shared)});
  expect_step_at(128 + 300 + 64, 5);
  EXPECT_EQ(tma.busy(), to_ticks(128));
}

TEST_F(TmaTest, ShortRowsCostAsMuchAsLongOnes) {
  SharedMemory shared{"shared", chip};
  MemorySystem memory{"memory", chip, 1.0, true};
  TmaEngine tma{"tma", timeline, turns, chip, {}, shared, memory, *this};
  tma.load(0, {128, 16, 1}, {to(5, shared)});
  tma.load(0, {8, 16, 2}, {to(6, shared)});
  expect_step_at(128 + 300 + 8, 5);
  expect_step_at(128 + 8 + 300 + 8, 6);
}

// An instruction is taken 58 cycles after the one before, while rows of that one move.
TEST_F(TmaTest, FewRowsCostTheInstructionsUnlessRowsOfOthersKeepTheEngineBusy) {
  SharedMemory shared{"shared", chip};
  MemorySystem memory{"memory", chip, 1.0, true};
  TmaEngine tma{"tma", timeline, turns, chip, {}, shared, memory, *this};
  tma.load(0, {8, 16, 1}, {to(5, shared)});
  tma.load(0, {8, 16, 2}, {to(6, shared)});
  tma.load(0, {128, 16, 3}, {to(7, shared)});
  tma.load(0, {8, 16, 4}, {to(8, shared)});
  expect_step_at(8 + 300 + 8, 5);
  expect_step_at(58 + 8 + 300 + 8, 6);
  expect_step_at(2 * 58 + 128 + 300 + 8, 7);
  expect_step_at(2 * 58 + 128 + 8 + 300 + 8, 8);
}

// 16 KiB at 64 bytes a cycle take 256 cycles into the SM, and the last row is the last of them.
TEST_F(TmaTest, TheWayIntoAnSmTakesItsRate) {
  chip.l2_sm_rate = 64;
  SharedMemory shared{"shared", chip};
  MemorySystem memory{"memory", chip, 1.0, true};
  TmaEngine tma{"tma", timeline, turns, chip, {}, shared, memory, *this};
  tma.load(0, {128, 128, 1}, {to(5, shared)});
  tma.load(0, {128, 128, 2}, {to(6, shared)});
  expect_step_at(128 + 300 + 64, 5);  // alone it streams in while the engine works on it
  expect_step_at(128 + 300 + 64 + 256, 6);
}

TEST_F(TmaTest, ALoadIssuedLaterBeginsLater) {
  SharedMemory shared{"shared", chip};
  MemorySystem memory{"memory", chip, 1.0, true};
  TmaEngine tma{"tma", timeline, turns, chip, {}, shared, memory, *this};
  tma.load(to_ticks(40), {64, 128, 1}, {to(5, shared)});
  expect_step_at(40 + 64 + 364, 5);
}

TEST_F(TmaTest, RowsAreSlowerWhileTheReadPortIsInUse) {
  SharedMemory shared{"shared", chip};
  MemorySystem memory{"memory", chip, 1.0, true};
  TmaEngine tma{"tma", timeline, turns, chip, {}, shared, memory, *this};
  tma.load(0, {128, 128, 1}, {to(5, shared)});
  shared.read(0, 64 * 128);  // half of the time: a quarter longer
  expect_step_at(128 * 1.25 + 364, 5);
}

TEST_F(TmaTest, AMulticastIsReadOnceAndLandsInEveryTarget) {
  SharedMemory shared{"shared", chip};
  SharedMemory other{"other", chip};
  MemorySystem memory{"memory", chip, 1.0, true};
  TmaEngine tma{"tma", timeline, turns, chip, {}, shared, memory, *this};
  tma.load(0, {128, 128, 1}, {to(5, shared), to(6, other)});
  simulation.run();
  EXPECT_THAT(steps, ElementsAre(5, 6));
  EXPECT_EQ(memory.l2(0).busy(), to_ticks(128.0 * 128 / 5e8));
  EXPECT_EQ(shared.writes().busy(), to_ticks(128));
  EXPECT_EQ(other.writes().busy(), to_ticks(128));
}

TEST_F(TmaTest, AStoreReadsThenWrites) {
  SharedMemory shared{"shared", chip};
  MemorySystem memory{"memory", chip, 1.0, true};
  TmaEngine tma{"tma", timeline, turns, chip, {}, shared, memory, *this};
  tma.store(0, {32, 128, 1}, AgentSlot{9});
  expect_step_at(70, 9);
  expect_step_at(70 + 350, 9);
}

TEST_F(TmaTest, ARowThatIsStoredTakesItsOwnTime) {
  chip.tma_store_row = 4;
  SharedMemory shared{"shared", chip};
  MemorySystem memory{"memory", chip, 1.0, true};
  TmaEngine tma{"tma", timeline, turns, chip, {}, shared, memory, *this};
  tma.store(0, {32, 128, 1}, AgentSlot{9});
  expect_step_at(4 * 32, 9);
  expect_step_at(4 * 32 + 350, 9);
}

TEST_F(TmaTest, AStoreHoldsTheEngineUntilL2HasTakenIt) {
  chip.l2_store_rate = chip.l2_halves * 32;
  SharedMemory shared{"shared", chip};
  MemorySystem memory{"memory", chip, 1.0, true};
  TmaEngine tma{"tma", timeline, turns, chip, {}, shared, memory, *this};
  tma.store(0, {32, 128, 1}, AgentSlot{9});
  tma.load(0, {128, 128, 2}, {to(5, shared)});
  constexpr double kTaken = 32 * 128 / 32;
  expect_step_at(kTaken, 9);
  expect_step_at(kTaken + 350, 9);
  expect_step_at(kTaken + 128 + 300 + 64, 5);
}

TEST_F(TmaTest, FillsOfTwoEnginesShareTheWritePort) {
  SharedMemory shared{"shared", chip};
  MemorySystem memory{"memory", chip, 1.0, true};
  TmaEngine mine{"mine", timeline, turns, chip, {}, shared, memory, *this};
  TmaEngine peers{"peers", timeline, turns, chip, {}, shared, memory, *this};
  mine.load(0, {128, 128, 1}, {to(5, shared)});
  peers.load(0, {128, 128, 2}, {to(6, shared)});
  expect_step_at(128 + 364, 5);
  expect_step_at(128 + 364 + 128, 6);
}

/// An MMA as measured: SemiAnalysisAI/microbench-blackwell@9a068d8, umma_latency.
struct MeasuredMma {
  const char* form;
  double columns;
  double latency;   // issue until a waiter of the commit goes on
  double interval;  // between instructions
};

void PrintTo(const MeasuredMma& mma, std::ostream* out) {
  *out << mma.form << ", " << mma.columns << " columns";
}

class TensorCoreTest : public UnitTest, public testing::WithParamInterface<MeasuredMma> {
 protected:
  MmaShape shape(const char* form, double columns) const {
    const std::string name{form};
    const bool pair = name[0] == '2';
    const double m = name.find("m128") != std::string::npos   ? 128
                     : name.find("m256") != std::string::npos ? 256
                                                              : 64;
    const double rows = (name.find(" ts") != std::string::npos ? 0 : m) + columns;
    return {chip.mma.at(form), columns, rows * 32 / (pair ? 2 : 1)};
  }
};

INSTANTIATE_TEST_SUITE_P(Forms,
                         TensorCoreTest,
                         testing::Values(MeasuredMma{"1sm m64 ss", 64, 152, 32},
                                         MeasuredMma{"1sm m64 ss", 256, 248, 128},
                                         MeasuredMma{"1sm m128 ss", 64, 168, 48},
                                         MeasuredMma{"1sm m128 ss", 80, 176, 52},
                                         MeasuredMma{"1sm m128 ss", 128, 200, 64},
                                         MeasuredMma{"1sm m128 ss", 256, 264, 128},
                                         MeasuredMma{"1sm m128 ts", 64, 136, 32},
                                         MeasuredMma{"1sm m64 ts", 128, 168, 64},
                                         MeasuredMma{"2sm m256 ss", 128, 234, 64},
                                         MeasuredMma{"2sm m256 ss", 96, 218, 49},
                                         MeasuredMma{"2sm m128 ss", 64, 173, 25},
                                         MeasuredMma{"2sm m128 ss", 256, 229, 64},
                                         MeasuredMma{"2sm m256 ts", 256, 266, 128},
                                         MeasuredMma{"2sm m128 ts", 64, 162, 18}));

TEST_P(TensorCoreTest, LatencyAndIntervalAreTheMeasuredOnes) {
  const MeasuredMma& measured = GetParam();
  SharedMemory shared{"shared", chip};
  SharedMemory peers{"peers", chip};
  TensorCore tensor{"tensor", timeline, chip, shared, *this};
  TensorCore peer{"peer", timeline, chip, peers, *this};
  const MmaShape mma = shape(measured.form, measured.columns);
  TensorCore* other = measured.form[0] == '2' ? &peer : nullptr;
  // The issue of MMA and commit before it, and the waiter's wake behind it, are part of latency.
  const double seen = measured.latency - 2 * chip.mma_issue - chip.mbarrier_wake;
  const auto slack = measured.form == std::string{"2sm m128 ss"} ? 8.0 : 0.0;
  tensor.multiply(0, mma, AgentSlot{3}, other);
  tensor.commit(0, AgentSlot{3});
  pass(to_ticks(seen - slack - 1));
  EXPECT_TRUE(steps.empty());
  pass(to_ticks(2 * slack + 1) + 1);
  EXPECT_THAT(steps, ElementsAre(3, 3));

  const Ticks first = now();
  constexpr int kBatch = 16;
  for (int i = 0; i < kBatch; ++i) {
    tensor.multiply(first, mma, AgentSlot{3}, other);
  }
  const double busy = to_cycles(std::max(tensor.ready(), shared.reads().free()) - first);
  EXPECT_NEAR(busy / kBatch, measured.interval, 1.5);
}

TEST_F(TensorCoreTest, OperandsComeThroughTheReadPort) {
  SharedMemory shared{"shared", chip};
  TensorCore tensor{"tensor", timeline, chip, shared, *this};
  shared.read(0, 128 * 100);  // the port is busy for 100 cycles
  tensor.multiply(0, shape("1sm m128 ss", 128), AgentSlot{3}, nullptr);
  tensor.commit(0, AgentSlot{3});
  const double seen = 200 - 2 * chip.mma_issue - chip.mbarrier_wake;
  pass(to_ticks(100 + seen));
  EXPECT_TRUE(steps.empty());
  pass(1);
  EXPECT_EQ(steps.size(), 2U);
}

TEST_F(TensorCoreTest, ACommitOfNothingTakesItsTime) {
  SharedMemory shared{"shared", chip};
  TensorCore tensor{"tensor", timeline, chip, shared, *this};
  tensor.commit(0, AgentSlot{3});
  expect_step_at(chip.commit_latency - chip.mbarrier_wake - chip.mma_issue, 3);
}

TEST_F(TensorCoreTest, ACommitIsOfWhatItsWarpIssued) {
  chip.mbarrier_wake = chip.mma_issue = chip.commit_latency = 0;
  const MmaShape product = shape("1sm m128 ss", 128);  // 64 cycles in the pipe
  const double latency = product.form.latency + product.form.latency_per_column * 128;
  SharedMemory shared{"shared", chip};
  TensorCore tensor{"tensor", timeline, chip, shared, *this};
  tensor.multiply(0, product, AgentSlot{3}, nullptr);
  tensor.multiply(0, product, AgentSlot{7}, nullptr);
  tensor.commit(0, AgentSlot{3});
  tensor.commit(0, AgentSlot{7});
  pass(to_ticks(latency));
  EXPECT_TRUE(steps.empty());
  pass(1);
  EXPECT_THAT(steps, ElementsAre(3, 3));
  pass(to_ticks(64) - 1);
  EXPECT_THAT(steps, ElementsAre(3, 3));
  pass(1);
  EXPECT_THAT(steps, ElementsAre(3, 3, 7, 7));
}

TEST_F(TensorCoreTest, WhatNobodyCommitsIsFlushed) {
  SharedMemory shared{"shared", chip};
  TensorCore tensor{"tensor", timeline, chip, shared, *this};
  tensor.multiply(0, shape("1sm m128 ss", 128), AgentSlot{3}, nullptr);
  simulation.run();
  EXPECT_TRUE(steps.empty());
  EXPECT_TRUE(tensor.flush());
  EXPECT_THAT(steps, ElementsAre(3));
  EXPECT_FALSE(tensor.flush());
}

class WgmmaTest : public UnitTest {
 protected:
  void SetUp() override {
    chip.issue = 2;
    chip.smem_read = 128;
  }
  // 64 rows of A and `columns` of B, 32 bytes of each.
  static WgmmaShape shape(double columns) {
    return {{0.5, 0, 0, 58, 0.5}, columns, (64 + columns) * 32};
  }
};

// The issue of a fence, a commit and a wait is the warp's.
TEST_F(WgmmaTest, LatencyIsTheMeasuredOne) {
  SharedMemory shared{"shared", chip};
  WarpgroupMma tensor{"tensor", timeline, chip, shared, *this};
  tensor.multiply(0, shape(128), AgentSlot{3});
  expect_step_at(58 + 64 - 6, 3);
}

TEST_F(WgmmaTest, ProductsOfAllWarpgroupsTakeTheirTurns) {
  SharedMemory shared{"shared", chip};
  WarpgroupMma tensor{"tensor", timeline, chip, shared, *this};
  tensor.multiply(0, shape(128), AgentSlot{3});
  tensor.multiply(0, shape(256), AgentSlot{7});
  tensor.multiply(to_ticks(10), shape(128), AgentSlot{3});
  expect_step_at(58 + 64 - 6, 3);
  expect_step_at(64 + 58 + 128 - 6, 7);
  expect_step_at(64 + 128 + 58 + 64 - 6, 3);
  EXPECT_EQ(tensor.busy(), to_ticks(64 + 128 + 64));
}

TEST_F(WgmmaTest, OneThatIsIssuedLaterBeginsLater) {
  SharedMemory shared{"shared", chip};
  WarpgroupMma tensor{"tensor", timeline, chip, shared, *this};
  tensor.multiply(to_ticks(500), shape(128), AgentSlot{3});
  expect_step_at(500 + 58 + 64 - 6, 3);
}

// Of few columns it is the operands that take the time: 3072 bytes of 32 columns, 24 cycles.
TEST_F(WgmmaTest, OperandsComeThroughTheReadPort) {
  SharedMemory shared{"shared", chip};
  WarpgroupMma tensor{"tensor", timeline, chip, shared, *this};
  tensor.multiply(0, shape(32), AgentSlot{3});
  tensor.multiply(0, shape(32), AgentSlot{3});
  expect_step_at(58 + 16 - 6, 3);
  expect_step_at(24 + 58 + 16 - 6, 3);
  EXPECT_EQ(shared.reads().busy(), to_ticks(48));
}

// Where products leave the read port no gap, an operation on an mbarrier waits for their end.
TEST_F(WgmmaTest, BarriersFindTheGapsThatProductsLeave) {
  chip.mbarrier_port = 1;
  chip.mbarrier_reach = 30;
  chip.mbarrier_test = 70;
  chip.mbarrier_arrive = 7;
  const auto seen = [&](double columns, Op kind, double from) {
    SharedMemory shared{sc_core::sc_gen_unique_name("shared"), chip};
    WarpgroupMma tensor{sc_core::sc_gen_unique_name("tensor"), timeline, chip, shared, *this};
    MbarrierUnit unit{sc_core::sc_gen_unique_name("unit"), chip, shared};
    for (int i = 0; i < 4; ++i) {
      tensor.multiply(0, shape(columns), AgentSlot{3});
    }
    const Operation op{kind};
    return to_cycles(unit.operate(to_ticks(from), op, 4));
  };
  // Four products of 64 columns read for 128 cycles.
  EXPECT_EQ(seen(64, Op::kMbarrierWait, 0), 128 + 40);
  EXPECT_EQ(seen(64, Op::kMbarrierWait, 128), 128 + 40);
  EXPECT_EQ(seen(64, Op::kMbarrierWait, 129), 129 + 40);
  EXPECT_EQ(seen(64, Op::kMbarrierArrive, 0), 128 + 7);
  // Of 128 columns they read for 12 cycles of each 16.
  EXPECT_EQ(seen(128, Op::kMbarrierWait, 0), 12 + 40);
  EXPECT_EQ(seen(128, Op::kMbarrierWait, 15), 15 + 40);
  EXPECT_EQ(seen(128, Op::kMbarrierWait, 16), 28 + 40);
  // Named barriers do not lie in shared memory.
  EXPECT_EQ(seen(64, Op::kBarSync, 0), chip.named_barrier + 4 * chip.named_barrier_per_warp);
  chip.mbarrier_port = 0;
  EXPECT_EQ(seen(64, Op::kMbarrierWait, 0), 70);
}

class TmemTest : public UnitTest {};

TEST_F(TmemTest, ALoadTakesItsBytesAndTheLatency) {
  chip.tmem_rate = 64;
  chip.tmem_latency = 10;
  SharedMemory shared{"shared", chip};
  TensorCore tensor{"tensor", timeline, chip, shared, *this};
  TmemPorts tmem{"tmem", timeline, chip, tensor, *this};
  tmem.move(1, 2048, AgentSlot{4});
  tmem.move(1, 2048, AgentSlot{4});
  tmem.move(2, 1024, AgentSlot{8});
  expect_step_at(16 + 10, 8);
  expect_step_at(32 + 10, 4);
  expect_step_at(64 + 10, 4);
}

TEST_F(TmemTest, BesideAnMmaItTakesLonger) {
  chip.tmem_rate = 64;
  chip.tmem_latency = 10;
  chip.tmem_busy_latency = 150;
  SharedMemory shared{"shared", chip};
  TensorCore tensor{"tensor", timeline, chip, shared, *this};
  TmemPorts tmem{"tmem", timeline, chip, tensor, *this};
  tensor.multiply(0, {chip.mma.at("1sm m128 ss"), 128, 8192}, AgentSlot{3}, nullptr);
  tmem.move(0, 2048, AgentSlot{4});
  expect_step_at(32 + 10 + 150, 4);
}

using FabricTest = UnitTest;

TEST_F(FabricTest, WhatIsSentArrivesAfterItsLatency) {
  Fabric fabric{"fabric", timeline, *this};
  fabric.send(to_ticks(224), AgentSlot{4});
  fabric.send(to_ticks(1), AgentSlot{5});
  expect_step_at(1, 5);
  expect_step_at(224, 4);
}

TEST_F(FabricTest, MessagesIntoAnSmComeOneAfterTheOther) {
  Fabric fabric{"fabric", timeline, *this};
  Port into;
  Port elsewhere;
  fabric.send(to_ticks(224), AgentSlot{4}, into, to_ticks(8));
  fabric.send(to_ticks(224), AgentSlot{5}, into, to_ticks(8));
  fabric.send(to_ticks(224), AgentSlot{6}, elsewhere, to_ticks(8));
  pass(to_ticks(224));
  EXPECT_TRUE(steps.empty());
  pass(1);
  EXPECT_THAT(steps, ElementsAre(4, 6));
  expect_step_at(224 + 8, 5);
}

using IssueTest = UnitTest;

TEST_F(IssueTest, TwoWarpsOfASubPartitionIssueOneAfterTheOther) {
  WarpIssue issue{"issue", chip};
  EXPECT_EQ(issue.issue(0, 0), to_ticks(1));
  EXPECT_EQ(issue.issue(0, 0), to_ticks(2));
  EXPECT_EQ(issue.issue(1, 0), to_ticks(1));
}

TEST_F(IssueTest, AnInstructionMayKeepTheSlotOfItsSubPartition) {
  WarpIssue issue{"issue", chip};
  EXPECT_EQ(issue.issue(0, 0, to_ticks(30)), to_ticks(30));
  EXPECT_EQ(issue.issue(0, 0, to_ticks(30)), to_ticks(60));
  EXPECT_EQ(issue.issue(1, 0), to_ticks(1));
}

TEST_F(IssueTest, ConversionsTakeTheirRate) {
  chip.convert_rate = 64;
  WarpIssue issue{"issue", chip};
  EXPECT_EQ(issue.convert(0, 0, 256), to_ticks(16));
  EXPECT_EQ(issue.convert(0, 0, 16), to_ticks(17));
}

TEST_F(IssueTest, ArithmeticTakesItsRateInEachSubPartition) {
  chip.fma_rate = 128;
  chip.mufu_rate = 16;
  WarpIssue issue{"issue", chip};
  EXPECT_EQ(issue.multiply_add(0, 0, 320), to_ticks(10));
  EXPECT_EQ(issue.multiply_add(0, 0, 32), to_ticks(11));
  EXPECT_EQ(issue.multiply_add(1, 0, 32), to_ticks(1));
  EXPECT_EQ(issue.special(0, 0, 320), to_ticks(80));  // beside the multiply-adds
  EXPECT_EQ(issue.special(0, to_ticks(79), 4), to_ticks(81));
  EXPECT_EQ(issue.fma(0).busy(), to_ticks(11));
}

TEST_F(IssueTest, BarriersTakeTheirLatencies) {
  SharedMemory shared{"shared", chip};
  MbarrierUnit unit{"unit", chip, shared};
  const auto taken = [&](Op kind, Semantics semantics = Semantics::kRelease) {
    Operation op{kind};
    op.ordering.semantics = semantics;
    MbarrierUnit fresh{sc_core::sc_gen_unique_name("fresh"), chip, shared};
    return to_cycles(fresh.operate(0, op, 4));
  };
  EXPECT_EQ(taken(Op::kMbarrierArrive), chip.mbarrier_arrive);
  EXPECT_EQ(taken(Op::kMbarrierWait), chip.mbarrier_test);
  EXPECT_EQ(taken(Op::kBarSync), 30);
  EXPECT_EQ(taken(Op::kClusterArrive, Semantics::kRelaxed), 102);
  EXPECT_EQ(taken(Op::kClusterArrive), 375);
  EXPECT_EQ(unit.wake(Op::kMbarrierWait), to_ticks(chip.mbarrier_wake));
}

TEST(GapPort, WhatIsAskedForEarlierFillsTheGaps) {
  GapPort port;
  EXPECT_EQ(port.fill(10, 10), 20U);
  EXPECT_EQ(port.fill(30, 10), 40U);
  EXPECT_EQ(port.fill(5, 4), 9U);    // before both
  EXPECT_EQ(port.fill(5, 3), 22U);   // one tick before, two between
  EXPECT_EQ(port.fill(0, 20), 47U);  // five before, eight between, the rest behind
  EXPECT_EQ(port.taken(0, 100), 47U);
  EXPECT_EQ(port.busy(), 47U);
}

// Against a map of single ticks.
TEST(GapPort, IsAMapOfTicks) {
  std::uint32_t state = 1;
  const auto random = [&](std::uint32_t below) {
    state = state * 1664525 + 1013904223;
    return (state >> 8) % below;
  };
  for (int run = 0; run < 200; ++run) {
    GapPort port;
    std::vector<bool> ticks(4096, false);
    for (int i = 0; i < 40; ++i) {
      const Ticks from = random(300);
      const Ticks service = random(20);
      Ticks at = from;
      for (Ticks left = service; left > 0; ++at) {
        if (!ticks[at]) {
          ticks[at] = true;
          --left;
        }
      }
      const Ticks end = port.fill(from, service);
      if (service > 0) {
        ASSERT_EQ(end, at);
      }
    }
    ASSERT_EQ(port.taken(0, 4096),
              static_cast<Ticks>(std::count(ticks.begin(), ticks.end(), true)));
  }
}

TEST(Port, ServesInOrder) {
  Port port;
  EXPECT_EQ(port.reserve(10, 5), 15U);
  EXPECT_EQ(port.reserve(0, 5), 20U);
  EXPECT_EQ(port.stream(22, 5), 25U);    // three ticks late: the port was in use
  EXPECT_EQ(port.stream(100, 5), 100U);  // streamed in while it was free
}

}  // namespace
}  // namespace warptwin::sim::units_test

// SystemC's library has a main too: this one comes first.
int main(int argc, char** argv) {
  testing::InitGoogleMock(&argc, argv);
  return RUN_ALL_TESTS();
}
