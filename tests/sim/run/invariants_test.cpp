// The simulator's own laws: each is broken by hand, and named.

#include <gtest/gtest.h>

#include "sim/check/clock.hpp"
#include "sim/check/order.hpp"
#include "sim/model/gpu.hpp"
#include "sim/model/invariant.hpp"
#include "sim/model/mbarrier_laws.hpp"
#include "sim/prove/conditions.hpp"

namespace warptwin::sim {
namespace invariants_test {
namespace {

using ::testing::ExitedWithCode;

// Private members, to be changed by hand: an explicit instantiation may name them.
std::uint32_t& serial_of(Gpu& gpu);
std::uint32_t& pending_of(MbarrierState& bar);
template <std::uint32_t Gpu::*kSerial>
struct OpenGpu {
  friend std::uint32_t& serial_of(Gpu& gpu) { return gpu.*kSerial; }
};
template <std::uint32_t MbarrierState::*kPending>
struct OpenBarrier {
  friend std::uint32_t& pending_of(MbarrierState& bar) { return bar.*kPending; }
};
template struct OpenGpu<&Gpu::serial_>;
template struct OpenBarrier<&MbarrierState::pending_>;

LaunchConfig two_warps(std::uint32_t clusters) {
  LaunchConfig config;
  config.clusters = clusters;
  config.warps_per_cta = 2;
  config.shared_bytes = kSharedBase + 1024;
  return config;
}

/// A machine whose state a test may change behind its back.
struct Invariants : testing::Test {
  explicit Invariants(std::uint32_t clusters = 1) : config{two_warps(clusters)} { gpu.launch(); }

  Warp& warp(WarpSlot slot) { return const_cast<Warp&>(gpu.warps()[slot]); }
  Cta& cta() { return const_cast<Cta&>(gpu.ctas()[0]); }
  Cluster& cluster() { return const_cast<Cluster&>(gpu.clusters()[0]); }
  ReadySet& ready() { return const_cast<ReadySet&>(gpu.ready()); }
  void execute(WarpSlot slot, Op op, std::uint32_t address = 0, std::uint32_t count = 0) {
    Operation operation{op};
    if (operation.is<operands::Mbarrier>()) {
      operation.as<operands::Mbarrier>().address = address;
      operation.as<operands::Mbarrier>().count = count;
    }
    gpu.execute(slot, operation);
  }
  void store() {
    Operation operation{Op::kBulkStore};
    auto& copy = operation.as<operands::Copy>();
    copy.shared = kSharedBase;
    copy.bytes = 16;
    copy.global = target;
    gpu.execute(0, operation);
  }

  LaunchConfig config;
  GlobalMemory memory;
  std::uint64_t target = memory.add("target", 1024, true);
  Symbols symbols;
  Gpu gpu{config, memory, symbols};
  const AgentSlot first_copy = gpu.agents().transfer(0);
};

/// Two clusters, of which the second one begins in the place of the first.
struct InvariantsOfAGrid : Invariants {
  InvariantsOfAGrid() : Invariants{2} {}
};

TEST_F(Invariants, HoldInARunThatIsRight) {
  store();
  ASSERT_NE(gpu.async_at(first_copy), nullptr);
  gpu.advance(first_copy);
  gpu.advance(first_copy);
  execute(0, Op::kWarpExit);
  execute(1, Op::kWarpExit);
  EXPECT_TRUE(gpu.finished());
}

TEST_F(Invariants, AWarpThatHasEndedDoesNotAct) {
  execute(0, Op::kWarpExit);
  EXPECT_EXIT(execute(0, Op::kSyncWarp), ExitedWithCode(3), "an agent is in one place");
}

TEST_F(Invariants, WhoCannotActDoesNot) {
  ready().erase(Agents::warp(1));
  EXPECT_EXIT(execute(1, Op::kSyncWarp), ExitedWithCode(3), "an agent is in one place");
}

TEST_F(Invariants, AWarpDoesNotEndTwice) {
  cta().live_warps = 0;
  EXPECT_EXIT(execute(0, Op::kWarpExit), ExitedWithCode(3), "a counter never wraps");
}

TEST_F(Invariants, ACtaDoesNotEndTwice) {
  execute(0, Op::kWarpExit);
  cluster().live_ctas = 0;
  EXPECT_EXIT(execute(1, Op::kWarpExit), ExitedWithCode(3), "a counter never wraps");
}

TEST_F(Invariants, WhatIsOnItsWayIsCounted) {
  store();
  gpu.advance(first_copy);
  cluster().outstanding = 0;
  EXPECT_EXIT(gpu.advance(first_copy), ExitedWithCode(3), "a counter never wraps");
}

TEST_F(Invariants, AStoreIsOfItsGroup) {
  store();
  warp(0).groups.back().unread = 0;
  EXPECT_EXIT(gpu.advance(first_copy), ExitedWithCode(3), "a counter never wraps");
}

TEST_F(Invariants, NothingLandsTwice) {
  store();
  gpu.advance(first_copy);
  gpu.advance(first_copy);
  ready().insert(first_copy);
  EXPECT_EXIT(gpu.advance(first_copy), ExitedWithCode(3), "what lands was issued");
}

TEST_F(Invariants, AQueueThatIsEmptyDoesNotAct) {
  const AgentSlot queue = gpu.agents().tensor_queue(0);
  ready().insert(queue);
  EXPECT_EXIT(gpu.advance(queue), ExitedWithCode(3), "queues agree with who can act");
}

TEST_F(InvariantsOfAGrid, HoldWhereAClusterFollows) {
  execute(0, Op::kWarpExit);
  execute(1, Op::kWarpExit);
  EXPECT_FALSE(gpu.finished());
  execute(0, Op::kWarpExit);
  execute(1, Op::kWarpExit);
  EXPECT_TRUE(gpu.finished());
}

TEST_F(InvariantsOfAGrid, AWarpBeginsWhereNobodyActs) {
  execute(0, Op::kWarpExit);
  ready().insert(Agents::warp(0));
  EXPECT_EXIT(execute(1, Op::kWarpExit), ExitedWithCode(3), "an agent is in one place");
}

TEST_F(InvariantsOfAGrid, AWarpBeginsWhereNobodyLives) {
  execute(0, Op::kWarpExit);
  warp(0).status = WarpStatus::kBlocked;
  EXPECT_EXIT(execute(1, Op::kWarpExit), ExitedWithCode(3), "an agent is in one place");
}

TEST_F(InvariantsOfAGrid, AWarpBeginsWithoutWorkForTheTensorCore) {
  execute(0, Op::kWarpExit);
  append(warp(0).tensor_queue);
  EXPECT_EXIT(execute(1, Op::kWarpExit), ExitedWithCode(3), "queues agree with who can act");
}

TEST_F(InvariantsOfAGrid, AWarpBeginsWithoutAccessesToTensorMemory) {
  execute(0, Op::kWarpExit);
  append(warp(0).tmem_queue);
  EXPECT_EXIT(execute(1, Op::kWarpExit), ExitedWithCode(3), "queues agree with who can act");
}

TEST_F(Invariants, NoTwoOperationsHaveOneNumber) {
  serial_of(gpu) = ~0U;
  EXPECT_EXIT(store(), ExitedWithCode(3), "a counter never wraps");
}

TEST_F(Invariants, APhaseLacksNoMoreArrivalsThanItTakes) {
  execute(0, Op::kMbarrierInit, kSharedBase, 64);
  pending_of(cta().barriers.at(0)) = 128;
  EXPECT_EXIT(
      execute(0, Op::kMbarrierArrive, kSharedBase, 1), ExitedWithCode(3), "a counter never wraps");
}

TEST(InvariantsOfAnMbarrier, APhaseFollowsTheOneBeforeIt) {
  MbarrierState bar;
  bar.init(2);
  const BarrierStep first = bar.arrive(1, false);
  keep_laws(0, first, bar);
  const BarrierStep second = bar.arrive(1, false);
  keep_laws(0, second, bar);
  EXPECT_EXIT(keep_laws(0, first, bar), ExitedWithCode(3), "a phase follows the one before it");
  EXPECT_EXIT(keep_laws(1, second, bar), ExitedWithCode(3), "a phase follows the one before it");
}

TEST(InvariantsOfAClock, AComponentDoesNotShrink) {
  std::uint32_t component = 3;
  grow(component, 3);
  grow(component, 4);
  EXPECT_EQ(component, 4U);
  EXPECT_EXIT(grow(component, 3), ExitedWithCode(3), "clocks only grow");
}

TEST_F(Invariants, OrderKnowsOfNoLandingWithoutAnIssue) {
  Order order{config};
  order.on_event(Event{Op::kWarpStart});
  Event event{Op::kTcgen05Commit};
  event.step = Step::kSignalled;
  event.serial = 7;
  EXPECT_EXIT(order.on_event(event), ExitedWithCode(3), "what lands was issued");
}

TEST_F(Invariants, TheProofsClocksDoNotGoBack) {
  Conditions conditions{2};
  conditions.step(0, 2);
  conditions.step(0, 3);
  EXPECT_EXIT(conditions.step(0, 2), ExitedWithCode(3), "clocks only grow");
}

}  // namespace
}  // namespace invariants_test
}  // namespace warptwin::sim
