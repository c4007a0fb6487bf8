#include <cstring>

#include <gtest/gtest.h>

#include "sim/model/global_memory.hpp"

namespace warptwin::sim {
namespace {

// 5 x 20 matrix of 16-bit elements, rows 48 bytes apart; boxes of 4 x 16.
class TensorMapTest : public ::testing::Test {
 protected:
  TensorMapTest() {
    map.address = memory.add("t", 5 * 48, true);
    map.element_bytes = 2;
    map.extent[0] = 20;
    map.extent[1] = 5;
    map.stride_bytes[0] = 2;
    map.stride_bytes[1] = 48;
    map.box[0] = 16;
    map.box[1] = 4;
    for (std::uint16_t r = 0; r < 5; ++r) {
      for (std::uint16_t c = 0; c < 20; ++c) {
        const auto v = static_cast<std::uint16_t>(100 * r + c + 1);
        std::memcpy(memory.at(map.address + r * 48U + c * 2U, 2), &v, 2);
      }
    }
  }
  std::uint16_t shared_at(std::uint32_t row, std::uint32_t column) const {
    std::uint16_t v = 0;
    std::memcpy(&v, shared + swizzled(row * 32 + column * 2, map.swizzle), 2);
    return v;
  }
  GlobalMemory memory;
  TensorMapState map;
  alignas(16) std::byte shared[4 * 32] = {};
};

TEST_F(TensorMapTest, ElementsOutsideTheMatrixAreReadAsZero) {
  const std::int32_t at[] = {8, 3};
  std::memset(shared, 0xFF, sizeof shared);
  copy_box_to_shared(memory, map, at, shared, 0);
  EXPECT_EQ(shared_at(0, 0), 309);
  EXPECT_EQ(shared_at(0, 11), 320);
  EXPECT_EQ(shared_at(0, 12), 0);
  EXPECT_EQ(shared_at(1, 0), 409);
  EXPECT_EQ(shared_at(2, 0), 0);
}

TEST_F(TensorMapTest, NegativeStartsReadZeroBeforeTheFirstElement) {
  const std::int32_t at[] = {-2, -1};
  copy_box_to_shared(memory, map, at, shared, 0);
  EXPECT_EQ(shared_at(0, 5), 0);
  EXPECT_EQ(shared_at(1, 1), 0);
  EXPECT_EQ(shared_at(1, 2), 1);
}

TEST_F(TensorMapTest, StoresClipAtTheEdges) {
  const std::int32_t at[] = {16, 4};
  std::memset(shared, 0x11, sizeof shared);
  copy_box_to_global(memory, map, at, shared, 0);
  std::uint16_t inside = 0;
  std::memcpy(&inside, memory.at(map.address + 4 * 48 + 19 * 2, 2), 2);
  EXPECT_EQ(inside, 0x1111);
  std::uint16_t padding = 1;
  std::memcpy(&padding, memory.at(map.address + 4 * 48 + 20 * 2, 2), 2);
  EXPECT_EQ(padding, 0);
}

TEST_F(TensorMapTest, ASwizzledBoxComesBackAsItWas) {
  map.swizzle = Swizzle::k32B;
  const std::int32_t at[] = {0, 0};
  copy_box_to_shared(memory, map, at, shared, 0);
  EXPECT_EQ(shared_at(3, 15), 316);
  std::byte before[5 * 48];
  std::memcpy(before, memory.at(map.address, sizeof before), sizeof before);
  copy_box_to_global(memory, map, at, shared, 0);
  EXPECT_EQ(std::memcmp(before, memory.at(map.address, sizeof before), sizeof before), 0);
}

TEST(GlobalMemoryTest, NeighbouringBuffersDoNotTouch) {
  GlobalMemory memory;
  const std::uint64_t first = memory.add("first", 100, true);
  memory.add("second", 100, true);
  EXPECT_NE(memory.at(first, 100), nullptr);
  EXPECT_EQ(memory.at(first, 101), nullptr);
  EXPECT_EQ(memory.at(first + 100, 1), nullptr);
}

}  // namespace
}  // namespace warptwin::sim
