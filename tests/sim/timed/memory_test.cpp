/// L2 and DRAM alone: who gets a box when, and what L2 and DRAM did for it.

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/timed/modules/memory_system.hpp"
#include "sim/timed/simulation.hpp"

namespace warptwin::sim::memory_test {
namespace {

class MemoryTest : public testing::Test {
 protected:
  void SetUp() override {
    chip.l2_rate = 256;  // 128 B a cycle and half
    chip.l2_bytes = 2 * 4096;
    chip.dram_rate = 0.128;  // 128 B a cycle at 1 GHz
    chip.dram_latency_ns = 300;
    chip.l2_far_latency = 200;
  }

  Simulation simulation;
  Chip chip = load_chip("b200");
};

TEST_F(MemoryTest, TheWayToL2TakesMoreCyclesOfAFasterClock) {
  chip.l2_latency_ns = 50;
  MemorySystem at_one{"at_one", chip, 1.0, true};
  EXPECT_EQ(at_one.fetch(0, {0, 0}, 7, 1280), to_ticks(10 + 50));
  MemorySystem at_two{"at_two", chip, 2.0, true};
  EXPECT_EQ(at_two.fetch(0, {0, 0}, 7, 1280), to_ticks(10 + 100));
}

TEST_F(MemoryTest, ABoxComesFromDramOnceAndThenFromL2) {
  MemorySystem memory{"memory", chip, 1.0, false};
  EXPECT_EQ(memory.fetch(0, {0, 0}, 7, 1280), to_ticks(10 + 300));
  EXPECT_EQ(memory.fetch(to_ticks(1000), {0, 0}, 7, 1280), to_ticks(1000 + 10));
}

TEST_F(MemoryTest, WhoAsksForABoxThatIsOnItsWayWaitsForIt) {
  MemorySystem memory{"memory", chip, 1.0, false};
  memory.fetch(0, {0, 0}, 7, 1280);
  // L2 hands it on to the first as it comes, then to the second; meanwhile it has time for others.
  EXPECT_EQ(memory.fetch(to_ticks(100), {0, 0}, 7, 1280), to_ticks(320));
  memory.fetch(to_ticks(400), {0, 0}, 8, 1280);
  EXPECT_EQ(memory.fetch(to_ticks(410), {0, 0}, 7, 1280), to_ticks(420));
  EXPECT_EQ(memory.dram().busy(), to_ticks(20));
}

TEST_F(MemoryTest, L2HandsOnTheFurtherCopiesOfAMulticastAsTheChipSays) {
  const auto handed_on = [&](double share) {
    chip.l2_multicast = share;
    MemorySystem memory{"memory", chip, 1.0, true};
    return memory.fetch(0, {0, 0}, 7, 1280, 4);
  };
  EXPECT_EQ(handed_on(0), to_ticks(10));
  EXPECT_EQ(handed_on(0.5), to_ticks(10 + 15));
  EXPECT_EQ(handed_on(1), to_ticks(40));
}

TEST_F(MemoryTest, ABoxOnItsWayToAGpcCostsAnotherSmOfItTheShareThatTheChipSays) {
  chip.gpcs = 2;
  chip.l2_shared = 0.2;
  chip.l2_latency_ns = 50;
  MemorySystem memory{"memory", chip, 1.0, true};
  EXPECT_EQ(memory.fetch(0, {0, 0}, 7, 1280), to_ticks(10 + 50));
  EXPECT_EQ(memory.fetch(0, {0, 0}, 7, 1280), to_ticks(10 + 2 + 50));
  EXPECT_EQ(memory.fetch(0, {0, 1}, 7, 1280), to_ticks(10 + 2 + 10 + 50));         // another GPC
  EXPECT_EQ(memory.fetch(to_ticks(60), {0, 0}, 7, 1280), to_ticks(60 + 10 + 50));  // it has come
}

TEST_F(MemoryTest, AShareOfTheBoxesIsInL2) {
  chip.l2_bytes = 2 * 1024 * 1280;
  MemorySystem memory{"memory", chip, 1.0, 0.25};
  int from_dram = 0;
  for (std::uint64_t box = 0; box < 1000; ++box) {
    const Ticks from = to_ticks(1000.0 * static_cast<double>(box));
    from_dram += memory.fetch(from, {0, 0}, box, 1280) == from + to_ticks(10) ? 0 : 1;
  }
  EXPECT_NEAR(from_dram, 750, 45);
  EXPECT_EQ(memory.dram().busy(), to_ticks(10.0 * from_dram));
}

TEST_F(MemoryTest, AHalfOfL2IsFilledUnevenly) {
  chip.l2_fill_spread = 0.12;
  const double half = chip.l2_bytes / chip.l2_halves;
  EXPECT_GT(share_held(chip, half / 2), 0.9999);
  EXPECT_DOUBLE_EQ(share_held(chip, half), 0.5);
  EXPECT_NEAR(share_held(chip, 0.88 * half), 0.84, 0.01);  // one standard deviation
  EXPECT_LT(share_held(chip, 2 * half), 0.0001);
  chip.l2_fill_spread = 0;
  EXPECT_EQ(share_held(chip, half), 1);
  EXPECT_EQ(share_held(chip, half + 1), 0);
}

TEST_F(MemoryTest, WhatComesFromDramWaitedForDram) {
  CauseLog log;
  MemorySystem memory{"memory", chip, 1.0, false, &log};
  memory.fetch(0, {0, 0}, 7, 1280);  // L2 is asked for it at cycle 300
  const CriticalPath path = log.critical_path(
      [](StepName step) -> std::string { return name_of(static_cast<Unit>(step.id)); });
  ASSERT_FALSE(path.parts.empty());
  EXPECT_EQ(path.parts.front().what, name_of(Unit::kDramLatency));
  EXPECT_EQ(path.parts.front().cycles, 300);
}

TEST_F(MemoryTest, TheOtherHalfsBoxIsFarOnceAndNearThen) {
  MemorySystem memory{"memory", chip, 1.0, false};
  memory.fetch(0, {0, 0}, 7, 1280);
  EXPECT_EQ(memory.fetch(to_ticks(1000), {1, 0}, 7, 1280), to_ticks(1000 + 200));
  EXPECT_EQ(memory.fetch(to_ticks(2000), {1, 0}, 7, 1280), to_ticks(2000 + 10));
  EXPECT_EQ(memory.dram().busy(), to_ticks(10));
}

TEST_F(MemoryTest, WhatComesFromTheOtherHalfSharesTheLink) {
  chip.l2_link_rate = 0.064;  // 64 B a cycle at 1 GHz
  MemorySystem memory{"memory", chip, 1.0, false};
  memory.fetch(0, {0, 0}, 7, 1280);
  memory.fetch(0, {0, 0}, 8, 1280);
  EXPECT_EQ(memory.fetch(to_ticks(1000), {1, 0}, 7, 1280), to_ticks(1000 + 200));
  EXPECT_EQ(memory.fetch(to_ticks(1000), {1, 0}, 8, 1280), to_ticks(1000 + 20 + 200));
  EXPECT_EQ(memory.link(0).busy(), to_ticks(40));
  EXPECT_EQ(memory.link(1).busy(), 0U);
}

TEST_F(MemoryTest, TheLeastRecentlyUsedBoxGoes) {
  MemorySystem memory{"memory", chip, 1.0, false};
  memory.fetch(0, {0, 0}, 1, 2048);
  memory.fetch(0, {0, 0}, 2, 2048);  // the half is full
  memory.fetch(to_ticks(1000), {0, 0}, 1, 2048);
  memory.fetch(to_ticks(2000), {0, 0}, 3, 2048);  // in the place of 2
  EXPECT_EQ(memory.fetch(to_ticks(3000), {0, 0}, 1, 2048), to_ticks(3000 + 16));
  EXPECT_EQ(memory.fetch(to_ticks(4000), {0, 0}, 2, 2048), to_ticks(4000 + 16 + 300));
}

TEST_F(MemoryTest, BandwidthIsShared) {
  MemorySystem memory{"memory", chip, 1.0, true};
  EXPECT_EQ(memory.fetch(0, {0, 0}, 1, 1280), to_ticks(10));
  EXPECT_EQ(memory.fetch(0, {0, 0}, 2, 1280), to_ticks(20));
  EXPECT_EQ(memory.fetch(0, {1, 0}, 3, 1280), to_ticks(10));
}

TEST_F(MemoryTest, StoresShareTheWayInAndLoadsTheWayOut) {
  chip.l2_store_rate = 128;  // 64 B a cycle and half
  MemorySystem memory{"memory", chip, 1.0, true};
  EXPECT_EQ(memory.store(0, 0, 1, 1280), to_ticks(20));
  EXPECT_EQ(memory.store(0, 0, 2, 1280), to_ticks(40));
  EXPECT_EQ(memory.store(0, 1, 3, 1280), to_ticks(20));
  EXPECT_EQ(memory.fetch(0, {0, 0}, 4, 1280), to_ticks(10));
  EXPECT_EQ(memory.store(to_ticks(100), 0, 5, 1280), to_ticks(120));
}

}  // namespace
}  // namespace warptwin::sim::memory_test

// SystemC's library has a main too: this one comes first.
int main(int argc, char** argv) {
  testing::InitGoogleMock(&argc, argv);
  return RUN_ALL_TESTS();
}
