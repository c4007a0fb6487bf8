// The simulator's own laws: each is broken by hand, and named.

#include <gtest/gtest.h>

#include "sim/check/order.hpp"
#include "sim/model/gpu.hpp"
#include "sim/model/invariant.hpp"
#include "sim/prove/conditions.hpp"

namespace warptwin::sim {
namespace invariants_test {
namespace {

using ::testing::ExitedWithCode;

LaunchConfig two_warps() {
  LaunchConfig config;
  config.warps_per_cta = 2;
  config.shared_bytes = kSharedBase + 1024;
  return config;
}

/// A machine whose state a test may change behind its back.
struct Invariants : testing::Test {
  Invariants() { gpu.launch(); }

  Warp& warp(WarpSlot slot) { return const_cast<Warp&>(gpu.warps()[slot]); }
  Cta& cta() { return const_cast<Cta&>(gpu.ctas()[0]); }
  Cluster& cluster() { return const_cast<Cluster&>(gpu.clusters()[0]); }
  ReadySet& ready() { return const_cast<ReadySet&>(gpu.ready()); }
  void execute(WarpSlot slot, Op op, std::uint32_t address = 0, std::uint32_t count = 0) {
    Operation operation;
    operation.op = op;
    operation.address = address;
    operation.count = count;
    gpu.execute(slot, operation);
  }
  void store() {
    Operation operation;
    operation.op = Op::kBulkStore;
    operation.address = kSharedBase;
    operation.bytes = 16;
    operation.global = target;
    gpu.execute(0, operation);
  }

  LaunchConfig config = two_warps();
  GlobalMemory memory;
  std::uint64_t target = memory.add("target", 1024, true);
  Symbols symbols;
  Gpu gpu{config, memory, symbols};
  const AgentSlot first_copy = gpu.agents().transfer(0);
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

TEST_F(Invariants, OrderKnowsOfNoLandingWithoutAnIssue) {
  Order order{config};
  Event event;
  event.op = Op::kWarpStart;
  order.on_event(event);
  event.op = Op::kTcgen05Commit;
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
