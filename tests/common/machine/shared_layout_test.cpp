#include "common/machine/shared_layout.hpp"

#include <gtest/gtest.h>

namespace warptwin::shared_layout_test {
namespace {

TEST(SharedLayoutTest, RegionsComeInOrderEachAtItsAlignment) {
  SharedLayout layout{SharedAddress{1024}};
  EXPECT_EQ(layout.word({"tmem", "address"}).value, 1024U);
  const MbarrierArray full = layout.barriers({"ring", "full"}, 3, BarrierContract{});
  EXPECT_EQ(full[0].address.value, 1032U);
  EXPECT_EQ(full[2].address.value, 1048U);
  EXPECT_EQ(layout.tiles({"ring", "tile"}, 2, 4096, 1024).value, 2048U);
  EXPECT_EQ(layout.word({"ring", "count"}).value, 2048U + 2 * 4096);
}

TEST(SharedLayoutTest, EveryTileOfARegionIsAligned) {
  SharedLayout layout{SharedAddress{0}};
  layout.tiles({"ring", "tile"}, 3, 96, 128);
  EXPECT_EQ(layout.bytes(), 3 * 128U);
}

TEST(SharedLayoutTest, BytesAreCountedFromTheBase) {
  SharedLayout layout{SharedAddress{1024}};
  EXPECT_EQ(layout.bytes(), 0U);
  layout.barriers({"ring", "full"}, 4, BarrierContract{});
  layout.ring({});
  EXPECT_EQ(layout.bytes(), 32U);
}

TEST(SharedLayoutTest, ALayoutIsAConstant) {
  constexpr std::uint32_t kBytes = [] {
    SharedLayout layout{SharedAddress{0}};
    layout.barriers({"ring", "full"}, 2, BarrierContract{});
    layout.tiles({"ring", "tile"}, 2, 512, 128);
    return layout.bytes();
  }();
  static_assert(kBytes == 128 + 2 * 512);
}

TEST(BarrierContractTest, ItsCountIsTheSumOfItsContributors) {
  constexpr BarrierContract kContract{
      {{Role::kMma, ArrivalKind::kUmmaCommit, 3}, {Role::kEpilogue, ArrivalKind::kElectedLane, 4}},
      0,
      Role::kLoad};
  EXPECT_EQ(kContract.arrivals(), 7U);
  EXPECT_EQ(BarrierContract{}.arrivals(), 0U);
}

}  // namespace
}  // namespace warptwin::shared_layout_test
