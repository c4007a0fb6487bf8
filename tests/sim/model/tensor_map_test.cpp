#include <cstring>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "common/machine/shared_tile.hpp"

#include "sim/model/global_memory.hpp"
#include "tests/support/print_types.hpp"

namespace warptwin::sim::tensor_map_test {
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
  copy_box_to_shared(memory, map, {TensorMode::kTile, at, {}}, shared, 0);
  EXPECT_EQ(shared_at(0, 0), 309);
  EXPECT_EQ(shared_at(0, 11), 320);
  EXPECT_EQ(shared_at(0, 12), 0);
  EXPECT_EQ(shared_at(1, 0), 409);
  EXPECT_EQ(shared_at(2, 0), 0);
}

TEST_F(TensorMapTest, NegativeStartsReadZeroBeforeTheFirstElement) {
  const std::int32_t at[] = {-2, -1};
  copy_box_to_shared(memory, map, {TensorMode::kTile, at, {}}, shared, 0);
  EXPECT_EQ(shared_at(0, 5), 0);
  EXPECT_EQ(shared_at(1, 1), 0);
  EXPECT_EQ(shared_at(1, 2), 1);
}

TEST_F(TensorMapTest, StoresClipAtTheEdges) {
  const std::int32_t at[] = {16, 4};
  std::memset(shared, 0x11, sizeof shared);
  copy_box_to_global(memory, map, {TensorMode::kTile, at, {}}, shared, 0);
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
  copy_box_to_shared(memory, map, {TensorMode::kTile, at, {}}, shared, 0);
  EXPECT_EQ(shared_at(3, 15), 316);
  std::byte before[5 * 48];
  std::memcpy(before, memory.at(map.address, sizeof before), sizeof before);
  copy_box_to_global(memory, map, {TensorMode::kTile, at, {}}, shared, 0);
  EXPECT_EQ(std::memcmp(before, memory.at(map.address, sizeof before), sizeof before), 0);
}

class SliceTest : public ::testing::TestWithParam<std::tuple<Swizzle, std::uint32_t>> {};

// Boxes of a few rows, which begin in the middle of a swizzle pattern, are together what one box
// of all rows is: every row lies where the tile has it.
TEST_P(SliceTest, SlicesOfATileLieAsTheWholeOfItDoes) {
  const auto [swizzle, slice_rows] = GetParam();
  constexpr std::uint32_t kRows = 16;
  constexpr std::uint32_t kBase = 2048;  // where the pattern begins
  const std::uint32_t columns = static_cast<std::uint32_t>(swizzle) / 2;
  GlobalMemory memory;
  TensorMapState map;
  map.address = memory.add("t", std::uint64_t{kRows} * columns * 2, true);
  map.element_bytes = 2;
  map.extent[0] = columns;
  map.extent[1] = kRows;
  map.stride_bytes[0] = 2;
  map.stride_bytes[1] = columns * 2;
  map.box[0] = columns;
  map.box[1] = slice_rows;
  map.swizzle = swizzle;
  for (std::uint32_t i = 0; i < kRows * columns; ++i) {
    const auto value = static_cast<std::uint16_t>(i + 1);
    std::memcpy(memory.at(map.address + i * 2, 2), &value, 2);
  }
  std::vector<std::byte> shared(kBase + kRows * columns * 2);
  const SharedTile<bf16> tile{{kBase}, kRows, columns, swizzle};
  for (std::uint32_t row = 0; row < kRows; row += slice_rows) {
    const std::int32_t at[] = {0, static_cast<std::int32_t>(row)};
    const std::uint32_t address = kBase + row * tile.row_bytes();
    copy_box_to_shared(memory, map, {TensorMode::kTile, at, {}}, &shared[address], address);
  }
  for (std::uint32_t row = 0; row < kRows; ++row) {
    for (std::uint32_t column = 0; column < columns; ++column) {
      std::uint16_t value = 0;
      std::memcpy(&value, &shared[tile.at(row, column).value], 2);
      ASSERT_EQ(value, row * columns + column + 1) << row << ", " << column;
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Rows,
                         SliceTest,
                         ::testing::Values(std::tuple{Swizzle::k128B, 1U},
                                           std::tuple{Swizzle::k128B, 2U},
                                           std::tuple{Swizzle::k128B, 4U},
                                           std::tuple{Swizzle::k64B, 2U},
                                           std::tuple{Swizzle::k64B, 4U},
                                           std::tuple{Swizzle::k32B, 4U}));

TEST(GlobalMemoryTest, NeighbouringBuffersDoNotTouch) {
  GlobalMemory memory;
  const std::uint64_t first = memory.add("first", 100, true);
  memory.add("second", 100, true);
  EXPECT_NE(memory.at(first, 100), nullptr);
  EXPECT_EQ(memory.at(first, 101), nullptr);
  EXPECT_EQ(memory.at(first + 100, 1), nullptr);
}

}  // namespace
}  // namespace warptwin::sim::tensor_map_test
