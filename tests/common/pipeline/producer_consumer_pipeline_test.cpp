#include "common/pipeline/producer_consumer_pipeline.hpp"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "common/machine/shared_layout.hpp"

#include "tests/support/recording_machine.hpp"

namespace warptwin::producer_consumer_pipeline_test {
namespace {

using tests::RecordingMachine;
using Lines = std::vector<std::string>;

constexpr RoleTable kRoles{RoleWarps{Role::kProducer, 1}, RoleWarps{Role::kConsumer, 2}};
using Loader = From<Role::kProducer, TmaBytes>;
using Reader = To<Role::kConsumer, EveryLane>;
using Storage = RingStorage<Loader, Reader>;
using Ring = ProducerConsumerPipeline<RecordingMachine, Loader, Reader>;

// Two stages of 128 bytes from 0 on; full at 256 and 264, empty at 272 and 280.
struct ProducerConsumerPipelineTest : testing::Test {
  SharedLayout layout{SharedAddress{0}};
  Storage storage{layout, "ring", kRoles, 2, 128};
  RecordingMachine machine;
  Ring ring{machine, storage};

  std::vector<StageStep> steps() const {
    std::vector<StageStep> steps;
    for (const StageNote& note : machine.notes) {
      steps.push_back(note.step);
    }
    return steps;
  }
};

TEST_F(ProducerConsumerPipelineTest, CountsFollowFromTheParticipants) {
  storage.init(machine);
  EXPECT_EQ(machine.take(), (Lines{"init 256 1", "init 272 64", "init 264 1", "init 280 64"}));
}

TEST_F(ProducerConsumerPipelineTest, AProducerWaitsEmptyThenArmsFull) {
  auto stage = ring.acquire_producer();
  std::move(stage).release();
  EXPECT_EQ(machine.take(),
            (Lines{"wait 272 phase -1", "sync_warp", "one: arrive.expect_tx 256 128"}));
  EXPECT_EQ(steps(), (std::vector{StageStep::kProducerAcquired, StageStep::kProducerReleased}));
}

TEST_F(ProducerConsumerPipelineTest, AConsumerWaitsFullThenEveryLaneArrivesOnEmpty) {
  auto stage = ring.acquire_consumer();
  std::move(stage).release();
  EXPECT_EQ(machine.take(), (Lines{"wait 256 phase 0", "sync_warp", "arrive 272 1"}));
  EXPECT_EQ(steps(), (std::vector{StageStep::kConsumerAcquired, StageStep::kConsumerReleased}));
}

TEST_F(ProducerConsumerPipelineTest, TheSecondLapWaitsForTheFirstLapsConsumers) {
  for (int i = 0; i < 2; ++i) {
    ring.producer_signal_and_step();
  }
  machine.take();
  ring.producer_signal_and_step();
  EXPECT_EQ(machine.take().front(), "wait 272 phase 0");
}

TEST_F(ProducerConsumerPipelineTest, SeveralStagesCanBeHeldAndReleasedInAnyOrder) {
  auto first = ring.acquire_consumer();
  auto second = ring.acquire_consumer();
  machine.take();
  std::move(second).release();
  std::move(first).release();
  EXPECT_EQ(machine.take(), (Lines{"arrive 280 1", "arrive 272 1"}));
}

TEST_F(ProducerConsumerPipelineTest, ScopesReleaseAtTheirEnd) {
  {
    auto stage = ring.produce();
    EXPECT_EQ(stage->index(), 0U);
  }
  machine.take();
  {
    auto stage = ring.consume();
    EXPECT_EQ(machine.take().back(), "sync_warp");
  }
  EXPECT_EQ(machine.take(), (Lines{"arrive 272 1"}));
}

TEST_F(ProducerConsumerPipelineTest, AnExplicitScopeLeavesTheArrivalToItsBody) {
  {
    auto stage = ring.consume_explicit();
    stage->arrive();
    machine.take();
  }
  EXPECT_EQ(machine.take(), Lines{});
}

TEST_F(ProducerConsumerPipelineTest, AReadyTokenSparesTheWait) {
  const ProducerToken token = ring.try_wait_consumer();
  machine.take();
  ring.acquire_producer(token).release();
  EXPECT_EQ(machine.take(), (Lines{"sync_warp", "one: arrive.expect_tx 256 128"}));
}

TEST_F(ProducerConsumerPipelineTest, ATokenOfAnotherStageIsNotBelieved) {
  const ProducerToken stale = ring.try_wait_consumer();
  ring.acquire_producer().release();
  machine.take();
  ring.acquire_producer(stale).release();
  EXPECT_EQ(machine.take().front(), "wait 280 phase -1");
}

TEST_F(ProducerConsumerPipelineTest, ATokenThatFoundNothingIsFollowedByTheWait) {
  machine.try_wait_result = false;
  const ConsumerToken token = ring.try_wait_producer();
  machine.take();
  ring.acquire_consumer(token).release();
  EXPECT_EQ(machine.take().front(), "wait 256 phase 0");
}

TEST_F(ProducerConsumerPipelineTest, DrainWaitsForEveryStage) {
  ring.acquire_producer().release();
  machine.take();
  ring.drain();
  EXPECT_EQ(machine.take(),
            (Lines{"wait 280 phase -1", "sync_warp", "wait 272 phase 0", "sync_warp"}));
}

TEST_F(ProducerConsumerPipelineTest, OperationsAreReportedAtTheCallersLine) {
  ring.wait_producer();
  const std::uint32_t line = __LINE__ - 1;
  EXPECT_EQ(machine.sites.at(0).line, line);
  EXPECT_NE(std::string{machine.sites.at(0).file}.find("_test.cpp"), std::string::npos);
}

#if !defined(__clang__)  // there these do not compile

TEST_F(ProducerConsumerPipelineTest, AForgottenReleaseIsNotedWithTheAcquiresLine) {
  std::uint32_t line = 0;
  {
    auto stage = ring.acquire_consumer();
    line = __LINE__ - 1;
  }
  ASSERT_EQ(machine.notes.back().step, StageStep::kDropped);
  EXPECT_EQ(machine.notes.back().site.line, line);
}

TEST_F(ProducerConsumerPipelineTest, ASecondReleaseIsNotedAndDoesNotArrive) {
  auto stage = ring.acquire_consumer();
  std::move(stage).release();
  machine.take();
  std::move(stage).release();
  EXPECT_EQ(machine.notes.back().step, StageStep::kReleasedTwice);
  EXPECT_EQ(machine.take(), Lines{});
}

TEST_F(ProducerConsumerPipelineTest, AMovedHandleTakesTheDutyAlong) {
  {
    auto stage = ring.acquire_consumer();
    auto other = std::move(stage);
    std::move(other).release();
  }
  EXPECT_EQ(machine.notes.back().step, StageStep::kConsumerReleased);
}

#endif

TEST(ProducerConsumerPipeline, OneElectedLaneArrivesForItsWarpAfterTheOthers) {
  using Throttle = ProducerConsumerPipeline<RecordingMachine,
                                            From<Role::kProducer, ElectedLane>,
                                            To<Role::kConsumer, ElectedLane>>;
  SharedLayout layout{SharedAddress{0}};
  const Throttle::Storage storage{layout, "order", kRoles, 1};
  RecordingMachine machine;
  storage.init(machine);
  EXPECT_EQ(machine.take(), (Lines{"init 0 1", "init 8 2"}));  // one lane of each consumer warp
  Throttle ring{machine, storage};
  ring.producer_signal_and_step();
  EXPECT_EQ(machine.take(),
            (Lines{"wait 8 phase -1", "sync_warp", "sync_warp", "one: arrive 0 1"}));
}

TEST(ProducerConsumerPipeline, EachConsumerOfAStageArrivesAsItWasDeclared) {
  using Lanes = To<Role::kConsumer, EveryLane>;
  using Commit = To<Role::kMma, UmmaCommit>;
  using Shared = ProducerConsumerPipeline<RecordingMachine, Loader, Commit, Lanes>;
  SharedLayout layout{SharedAddress{0}};
  const Shared::Storage storage{layout, "ring", kRoles, 1, 128};
  RecordingMachine machine;
  storage.init(machine);
  EXPECT_EQ(machine.take().back(), "init 136 65");  // one commit and 64 lanes
  Shared mma{machine, storage};
  mma.acquire_consumer<Commit>().release();
  EXPECT_EQ(machine.take().back(), "commit 136");
  Shared reader{machine, storage};
  reader.acquire_consumer<Lanes>().release();
  EXPECT_EQ(machine.take().back(), "arrive 136 1");
}

}  // namespace
}  // namespace warptwin::producer_consumer_pipeline_test
