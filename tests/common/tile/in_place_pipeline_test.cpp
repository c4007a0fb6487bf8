#include "common/tile/in_place_pipeline.hpp"

#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/machine/shared_layout.hpp"

#include "tests/support/recording_machine.hpp"

namespace warptwin::in_place_pipeline_test {
namespace {

using tests::RecordingMachine;
using Lines = std::vector<std::string>;
using Scores =
    InPlacePipelineStorage<From<Role::kMma, UmmaCommit>, To<Role::kSoftmax, WarpgroupLanes>>;

constexpr RoleTable kRoles{RoleWarps{Role::kSoftmax, 8}, RoleWarps{Role::kMma, 1}};

// full at 0 and 8, empty at 16 and 24, replaced at 32 and 40; stages at columns 0 and 128.
struct InPlacePipelineTest : testing::Test {
  SharedLayout layout{SharedAddress{0}};
  Scores storage{layout, "scores", kRoles, {}, {2, 128}};
  RecordingMachine machine;
  PipelineOf<RecordingMachine, Scores> pipeline(RingTurn turn = {}) {
    return {machine, storage, TmemAllocation{{0}, 256}, turn};
  }
};

TEST_F(InPlacePipelineTest, OneWarpgroupArrivesForEachStage) {
  storage.init(machine);
  EXPECT_EQ(
      machine.take(),
      (Lines{"init 0 1", "init 16 1", "init 8 1", "init 24 1", "init 32 128", "init 40 128"}));
}

TEST_F(InPlacePipelineTest, TheMmaWaitsUntilTheOperandThatLayThereHasBeenRead) {
  auto ring = pipeline();
  ring.acquire_mma_linear().release();
  EXPECT_EQ(machine.take(),
            (Lines{"wait 16 phase -1", "sync_warp", "tcgen05.fence.after", "commit 0"}));
  ring.acquire_mma_linear().release();
  auto operand = ring.acquire_operand_linear();
  EXPECT_EQ(operand.operand<bf16>().advanced(32).column(), 8U);
  std::move(operand).release();
  machine.take();
  ring.acquire_mma_linear().release();
  EXPECT_EQ(machine.take().front(), "wait 16 phase 0");
}

TEST_F(InPlacePipelineTest, AnOperandIsHandedOverBehindAFenceAndFreedByACommit) {
  auto ring = pipeline();
  ring.acquire_replace_linear().release();
  EXPECT_EQ(machine.take(),
            (Lines{"wait 0 phase 0",
                   "sync_warp",
                   "tcgen05.fence.after",
                   "tcgen05.fence.before",
                   "arrive 32 1"}));
  ring.acquire_operand_linear().release();
  EXPECT_EQ(machine.take(),
            (Lines{"wait 32 phase 0", "sync_warp", "tcgen05.fence.after", "commit 16"}));
}

TEST_F(InPlacePipelineTest, WritersTakeStagesInTurn) {
  machine.warp = 6;
  auto ring = pipeline({1, 2});
  for (const char* wait : {"wait 8 phase 0", "wait 8 phase 1"}) {
    auto stage = ring.acquire_replace_linear();
    EXPECT_EQ(stage.own_rows().lane(), 64U);
    EXPECT_EQ(stage.own_rows().column(), 128U);
    std::move(stage).release();
    EXPECT_EQ(machine.take().front(), wait);
  }
}

// Each CTA stores its own rows of the operand, which the leader's MMA reads.
TEST_F(InPlacePipelineTest, WritersOfAPairTellItsLeader) {
  SharedLayout own{SharedAddress{0}};
  const Scores pair{own, "scores", kRoles, {2, 1, CtaGroup::kTwo}, {2, 128}};
  machine.ctas = 2;
  const auto lines_of = [&](std::uint32_t rank) {
    machine.rank = rank;
    PipelineOf<RecordingMachine, Scores> ring{machine, pair, TmemAllocation{{0}, 256}, {}};
    ring.acquire_replace_linear().release();
    return machine.take();
  };
  pair.init(machine);
  EXPECT_THAT(machine.take(), testing::Contains("init 32 256"));
  EXPECT_EQ(lines_of(0).back(), "arrive cta 0 32 1");
  EXPECT_EQ(lines_of(1).back(), "arrive cta 0 32 1");
}

TEST_F(InPlacePipelineTest, ADroppedStageIsNoted) {
  { auto stage = pipeline().acquire_replace_linear(); }
  EXPECT_EQ(machine.notes.back().step, StageStep::kDropped);
}

}  // namespace
}  // namespace warptwin::in_place_pipeline_test
