#include "common/tile/scale_pipeline.hpp"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "common/machine/shared_layout.hpp"

#include "tests/support/recording_machine.hpp"

namespace warptwin::scale_pipeline_test {
namespace {

using tests::RecordingMachine;
using Lines = std::vector<std::string>;
using Scales = ScalePipelineStorage<From<Role::kScaleLoad, TmaBytes>,
                                    To<Role::kScaleToTmem, EveryLane>,
                                    To<Role::kMma, UmmaCommit>>;

constexpr RoleTable kRoles{
    RoleWarps{Role::kMma, 1}, RoleWarps{Role::kScaleLoad, 1}, RoleWarps{Role::kScaleToTmem, 4}};

// Two tiles of 1024 bytes, then full at 2048 and 2056, empty at 2064 and 2072, stored at 2080 and
// 2088.
struct ScalePipelineTest : testing::Test {
  SharedLayout layout{SharedAddress{0}};
  Scales storage{layout, "sfb", kRoles, 2, 2 * kScaleBlockBytes};
  RecordingMachine machine;
  PipelineOf<RecordingMachine, Scales> pipeline() { return {machine, storage}; }
};

TEST_F(ScalePipelineTest, TheWritersCountInLanesForTheMmaAndInWarpsForTheProducer) {
  storage.init(machine);
  EXPECT_EQ(machine.take(),
            (Lines{"init 2048 1",
                   "init 2064 5",
                   "init 2056 1",
                   "init 2072 5",
                   "init 2080 128",
                   "init 2088 128"}));
}

TEST_F(ScalePipelineTest, AProducerWaitsUntilBothPlacesAreFree) {
  auto ring = pipeline();
  ring.acquire_producer().release();
  EXPECT_EQ(machine.take(),
            (Lines{"wait 2064 phase -1", "sync_warp", "one: arrive.expect_tx 2048 1024"}));
  ring.acquire_producer().release();
  machine.take();
  ring.drain();
  EXPECT_EQ(machine.take(),
            (Lines{"wait 2064 phase 0", "sync_warp", "wait 2072 phase 0", "sync_warp"}));
}

TEST_F(ScalePipelineTest, AWarpStoresEachBlockToItsQuarterOfTheLanes) {
  machine.warp = 7;
  auto ring = pipeline();
  ring.acquire_writer().release();
  machine.take();
  auto stage = ring.acquire_writer();
  EXPECT_EQ(machine.take(), (Lines{"wait 2056 phase 0", "sync_warp", "tcgen05.fence.after"}));
  stage.store_block(1, 2, {40});
  EXPECT_EQ(machine.take(), (Lines{"ld.shared.row 1536 row 0 column 2", "st 1 lane 96 column 40"}));
  std::move(stage).release();
  EXPECT_EQ(machine.take(),
            (Lines{"wait.st",
                   "tcgen05.fence.before",
                   "arrive 2088 1",
                   "fence.proxy.async",
                   "sync_warp",
                   "one: arrive 2072 1"}));
}

TEST_F(ScalePipelineTest, TheMmaWaitsForTheStoresAndFreesByACommit) {
  auto ring = pipeline();
  auto stage = ring.acquire_consumer();
  EXPECT_EQ(machine.take(), (Lines{"wait 2080 phase 0", "sync_warp", "tcgen05.fence.after"}));
  std::move(stage).release();
  EXPECT_EQ(machine.take(), (Lines{"commit 2064"}));
}

TEST_F(ScalePipelineTest, ADroppedStageIsNoted) {
  { auto stage = pipeline().acquire_writer(); }
  EXPECT_EQ(machine.notes.back().step, StageStep::kDropped);
  pipeline().acquire_writer().release_without_signal();
  EXPECT_EQ(machine.notes.back().step, StageStep::kConsumerReleased);
}

}  // namespace
}  // namespace warptwin::scale_pipeline_test
