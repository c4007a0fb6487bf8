#include "common/tile/tile_writer.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "common/machine/shared_layout.hpp"

#include "tests/support/recording_machine.hpp"

namespace warptwin::tile_writer_test {
namespace {

using tests::RecordingMachine;
using Lines = std::vector<std::string>;

constexpr RoleTable kRoles{RoleWarps{Role::kMma, 1}, RoleWarps{Role::kEpilogue, 4}};

struct TileWriterTest : testing::Test {
  SharedLayout layout{SharedAddress{0}};
  OutputTileStorage<bf16> storage{layout, "out", kRoles, 128, 64};
  RecordingMachine machine;
  TileWriter<RecordingMachine, bf16> writer{machine, storage};
};

TEST_F(TileWriterTest, OneWarpStoresWhatAllHaveWrittenAndFenced) {
  machine.warp = 1;  // the first of the role
  EXPECT_EQ(writer.acquire().base.value, 0U);
  writer.store(9, {2, 3});
  EXPECT_EQ(machine.take(),
            (Lines{"wait_group.read 1",
                   "bar.sync 2 128",
                   "fence.proxy.async",
                   "bar.sync 2 128",
                   "store 0 map 9 at 192 256",
                   "commit_group"}));
}

TEST_F(TileWriterTest, TheOtherWarpsOnlyFenceAndMeet) {
  machine.warp = 2;
  writer.acquire();
  writer.store(9, {0, 0});
  writer.drain();
  EXPECT_EQ(machine.take(), (Lines{"bar.sync 2 128", "fence.proxy.async", "bar.sync 2 128"}));
}

TEST_F(TileWriterTest, BuffersAlternate) {
  writer.store(9, {0, 0});
  EXPECT_EQ(writer.acquire().base.value, 16384U);
  writer.store(9, {0, 0});
  EXPECT_EQ(writer.acquire().base.value, 0U);
}

TEST_F(TileWriterTest, TheBoxesOfABufferAreStoredAStepApart) {
  const OutputTileStorage<bf16> two{layout, "out", kRoles, 64, 64, 2};
  EXPECT_EQ(two.first.rows, 128U);
  machine.warp = 1;
  TileWriter<RecordingMachine, bf16> both{machine, two};
  both.store(9, {2, 3}, 4);
  EXPECT_EQ(machine.take(),
            (Lines{"fence.proxy.async",
                   "bar.sync 2 128",
                   "store 32768 map 9 at 192 128",
                   "store 40960 map 9 at 448 128",
                   "commit_group"}));
}

TEST_F(TileWriterTest, EachWarpStoresTheRowsThatItHasWritten) {
  machine.warp = 3;  // the third of the role, of rank 3 in its warpgroup
  TileWriter<RecordingMachine, bf16, Role::kEpilogue, StoredBy::kEachWarp> own{machine, storage};
  EXPECT_EQ(own.acquire().base.value, 0U);
  own.store(9, {2, 3});
  own.drain();
  EXPECT_EQ(machine.take(),
            (Lines{"wait_group.read 1",
                   "sync_warp",
                   "fence.proxy.async",
                   "sync_warp",
                   "store 12288 map 9 at 192 352",
                   "commit_group",
                   "wait_group 0"}));
}

TEST_F(TileWriterTest, BoxesGoWhereTheyAreToldTo) {
  const OutputTileStorage<bf16> four{layout, "out", kRoles, 32, 32, 4};
  machine.warp = 2;
  TileWriter<RecordingMachine, bf16, Role::kEpilogue, StoredBy::kEachWarp> own{machine, four};
  own.store_boxes(9, [](std::uint32_t box) { return TileIndex{5, box}; });
  EXPECT_EQ(
      machine.take(),
      (Lines{"fence.proxy.async", "sync_warp", "store 36864 map 9 at 64 160", "commit_group"}));
}

TEST(BoxColumns, AreTheWidestSpanThatDividesTheTile) {
  EXPECT_EQ(box_columns<bf16>(256), 64U);
  EXPECT_EQ(box_columns<bf16>(96), 32U);
  EXPECT_EQ(box_columns<bf16>(80), 16U);
}

}  // namespace
}  // namespace warptwin::tile_writer_test
