// Footprints meet where they have a byte in common: compared run by run.

#include "sim/check/footprint.hpp"

#include <cstdint>
#include <random>

#include <gtest/gtest.h>

namespace warptwin::sim {
namespace {

class Drawn {
 public:
  explicit Drawn(std::uint32_t seed) : bits_{seed} {}
  std::uint32_t of(std::uint32_t least, std::uint32_t most) {
    return least + static_cast<std::uint32_t>(bits_() % (most - least + 1));
  }
  Footprint swizzled() {
    Footprint rows;
    rows.swizzled = true;
    rows.pitch = 32U << of(0, 2);
    rows.width = of(1, rows.pitch);
    rows.begin = of(0, 1) == 0 ? of(0, 2000) : of(0, 125) * Footprint::kSwizzleChunk;
    rows.end = rows.begin + (of(1, 20) - 1) * rows.pitch + rows.width;
    return rows;
  }
  Footprint of_lanes() {
    Footprint rows;
    rows.addressed = true;
    rows.width = of(1, 16);
    rows.pitch = of(rows.width, 400);
    rows.begin = of(0, 3000);
    rows.end = rows.begin + (of(1, 12) - 1) * rows.pitch + rows.width;
    return rows;
  }

 private:
  std::mt19937 bits_;
};

bool meet_run_by_run(const Footprint& one, const Footprint& other) {
  bool meet = false;
  one.for_each_run([&](std::uint32_t from, std::uint32_t to) {
    other.for_each_run([&](std::uint32_t other_from, std::uint32_t other_to) {
      meet = meet || (from < other_to && other_from < to);
    });
  });
  return meet;
}

TEST(Footprint, OfASwizzledTileMeetsLanesWhereTheyHaveAByteInCommon) {
  Drawn drawn{1};
  std::uint32_t met = 0;
  constexpr std::uint32_t kPairs = 20'000;
  for (std::uint32_t pair = 0; pair < kPairs; ++pair) {
    const Footprint tile = drawn.swizzled();
    const Footprint lanes = drawn.of_lanes();
    const bool meet = meet_run_by_run(tile, lanes);
    ASSERT_EQ(tile.meets(lanes), meet) << pair;
    ASSERT_EQ(lanes.meets(tile), meet) << pair;
    met += meet ? 1 : 0;
  }
  EXPECT_GT(met, kPairs / 10);
  EXPECT_LT(met, kPairs - kPairs / 10);
}

}  // namespace
}  // namespace warptwin::sim
