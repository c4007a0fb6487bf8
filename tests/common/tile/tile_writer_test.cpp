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

TEST(BoxColumns, AreTheWidestSpanThatDividesTheTile) {
  EXPECT_EQ(box_columns<bf16>(256), 64U);
  EXPECT_EQ(box_columns<bf16>(96), 32U);
  EXPECT_EQ(box_columns<bf16>(80), 16U);
}

}  // namespace
}  // namespace warptwin::tile_writer_test
