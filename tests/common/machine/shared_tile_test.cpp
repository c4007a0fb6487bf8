#include "common/machine/shared_tile.hpp"

#include <set>

#include <gtest/gtest.h>

#include "tests/support/print_types.hpp"

namespace warptwin::shared_tile_test {
namespace {

class SwizzledTest : public ::testing::TestWithParam<Swizzle> {};

// The pattern as the PTX ISA draws it: in line i of 128 bytes, each 16-byte unit moves to its
// number
// XOR i, counted modulo the units of a span.
TEST_P(SwizzledTest, UnitsArePermutedByTheNumberOfTheirLine) {
  const std::uint32_t units = static_cast<std::uint32_t>(GetParam()) / 16;
  for (std::uint32_t line = 0; line < 16; ++line) {
    for (std::uint32_t unit = 0; unit < 8; ++unit) {
      const std::uint32_t span = unit / units;
      const std::uint32_t moved = span * units + (unit % units ^ line % units);
      EXPECT_EQ(swizzled(line * 128 + unit * 16 + 5, GetParam()), line * 128 + moved * 16 + 5);
    }
  }
}

TEST_P(SwizzledTest, TwiceIsOnceBack) {
  for (std::uint32_t offset = 0; offset < 4096; ++offset) {
    EXPECT_EQ(swizzled(swizzled(offset, GetParam()), GetParam()), offset);
  }
}

TEST_P(SwizzledTest, EveryElementOfATileHasItsOwnPlaceInIt) {
  const std::uint32_t columns = static_cast<std::uint32_t>(GetParam()) / 2;
  const SharedTile<bf16> tile{{4096}, 24, columns, GetParam()};
  std::set<std::uint32_t> places;
  for (std::uint32_t row = 0; row < tile.rows; ++row) {
    for (std::uint32_t column = 0; column < tile.columns; ++column) {
      places.insert(tile.at(row, column).value);
    }
  }
  EXPECT_EQ(places.size(), tile.rows * tile.columns);
  EXPECT_EQ(*places.begin(), 4096U);
  EXPECT_EQ(*places.rbegin(), 4096U + tile.bytes() - 2);
}

INSTANTIATE_TEST_SUITE_P(Spans,
                         SwizzledTest,
                         ::testing::Values(Swizzle::k32B, Swizzle::k64B, Swizzle::k128B));

// CuTe's Swizzle<2, 5, 2>, in bytes: bits 5 and 6 by bits 7 and 8.
TEST(SharedTileTest, AnAtomOf32BytesStaysTogether) {
  for (std::uint32_t offset = 0; offset < 4096; ++offset) {
    const std::uint32_t line = offset / 128;
    const std::uint32_t chunk = offset / 32 % 4 ^ line % 4;
    EXPECT_EQ(swizzled(offset, Swizzle::k128BAtom32B), line * 128 + chunk * 32 + offset % 32);
  }
  EXPECT_EQ(alignment_of(Swizzle::k128BAtom32B), 512U);
}

TEST(SharedTileTest, WithoutSwizzleATileIsRowMajor) {
  const SharedTile<f8e4m3> tile{{256}, 4, 48, Swizzle::kNone};
  EXPECT_EQ(tile.row_bytes(), 48U);
  EXPECT_EQ(tile.bytes(), 192U);
  EXPECT_EQ(tile.at(3, 7).value, 256U + 3 * 48 + 7);
}

TEST(SharedTileTest, APatternStartsAtEightOfItsSpans) {
  EXPECT_EQ(alignment_of(Swizzle::kNone), 128U);
  EXPECT_EQ(alignment_of(Swizzle::k32B), 256U);
  EXPECT_EQ(alignment_of(Swizzle::k64B), 512U);
  EXPECT_EQ(alignment_of(Swizzle::k128B), 1024U);
}

}  // namespace
}  // namespace warptwin::shared_tile_test
