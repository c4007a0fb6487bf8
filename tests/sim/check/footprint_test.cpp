// Footprints meet where they have a byte in common: against their runs.

#include "sim/check/footprint.hpp"

#include <cstdint>
#include <random>

#include <gtest/gtest.h>

namespace warptwin::sim {
namespace {

bool meet_by_runs(const Footprint& one, const Footprint& other) {
  bool meet = false;
  one.for_each_run([&](std::uint32_t from, std::uint32_t to) {
    other.for_each_run([&](std::uint32_t other_from, std::uint32_t other_to) {
      meet = meet || (from < other_to && other_from < to);
    });
  });
  return meet;
}

class FootprintTest : public ::testing::Test {
 protected:
  std::uint32_t below(std::uint32_t end) { return static_cast<std::uint32_t>(random_() % end); }
  /// Up to `most` rows.
  Footprint rows(std::uint32_t begin,
                 std::uint32_t pitch,
                 std::uint32_t width,
                 std::uint32_t most) {
    Footprint all;
    all.begin = begin;
    all.pitch = pitch;
    all.width = width;
    all.end = begin + below(most) * pitch + width;
    return all;
  }
  /// Whether they do meet.
  bool are_told(const Footprint& one, const Footprint& other) {
    const bool common = meet_by_runs(one, other);
    EXPECT_EQ(one.meets(other), common)
        << "pitches " << one.pitch << ", " << other.pitch << ": " << one.begin << " to " << one.end
        << ", " << other.begin << " to " << other.end;
    return common;
  }

 private:
  std::mt19937 random_{1};
};

TEST_F(FootprintTest, RowsOfOnePitchMeetWhereTheyHaveAByteInCommon) {
  int met = 0;
  for (int draw = 0; draw < 20000; ++draw) {
    const std::uint32_t pitch = 1 + below(12);
    const Footprint one = rows(below(40), pitch, 1 + below(pitch), 4);
    met += are_told(one, rows(below(40), pitch, 1 + below(pitch), 4)) ? 1 : 0;
  }
  EXPECT_GT(met, 5000);
}

// No row of a tile leaves its span.
TEST_F(FootprintTest, RowsOfASwizzledTileMeetLanesWhereTheyHaveAByteInCommon) {
  int met = 0;
  for (int draw = 0; draw < 20000; ++draw) {
    const std::uint32_t span = 32U << below(3);
    const std::uint32_t width = 1 + below(span);
    Footprint tile = rows(below(40) * span + below(span - width + 1), span, width, 20);
    tile.swizzled = true;
    const std::uint32_t word = 1 + below(16);
    Footprint lanes = rows(below(3000), word + below(400), word, 12);
    lanes.addressed = true;
    met += are_told(tile, lanes) ? 1 : 0;
    EXPECT_EQ(lanes.meets(tile), tile.meets(lanes));
  }
  EXPECT_GT(met, 2000);
  EXPECT_LT(met, 18000);
}

}  // namespace
}  // namespace warptwin::sim
