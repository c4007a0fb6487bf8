#include "scenarios/gemm_small.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/kernel/dispatch.hpp"

#include "tests/support/recording_machine.hpp"

namespace warptwin::scenarios::gemm_small_test {
namespace {

using ::testing::Contains;
using ::testing::EndsWith;
using tests::RecordingMachine;

constexpr std::uint32_t kMma = 4;
constexpr std::uint32_t kLoad = 5;
constexpr int kRows = 1;
constexpr int kColumns = 2;

/// One warp of a CTA that has two tiles of three groups.
template <class Extents>
std::vector<std::string> run(const Extents& extents, std::uint32_t warp) {
  using Kernel = GemmSmall::Kernel<RecordingMachine, Extents>;
  RecordingMachine machine;
  machine.warp = warp;
  machine.ctas = extents.cluster().ctas();
  const TileWalk walk{TileGrid{2, 1}, extents.cluster()};
  run_warp<Kernel>(machine, typename Kernel::Problem{kRows, kColumns, 3, extents, walk, 3}, {});
  for (const StageNote& note : machine.notes) {
    EXPECT_LT(note.step, StageStep::kDropped);
  }
  return machine.take();
}

auto count(const std::vector<std::string>& lines, const std::string& part) {
  return std::count_if(lines.begin(), lines.end(), [&](const std::string& line) {
    return line.find(part) != std::string::npos;
  });
}

GemmSmallExtents<> small(std::uint32_t swap_ab, std::uint32_t prefetch) {
  return {{128, 16, 64, 4, 2}, 2, swap_ab, prefetch, 1, 1};
}

TEST(GemmSmall, StaticAndDynamicExtentsGiveTheSameOperations) {
  for (std::uint32_t warp = 0; warp < 6; ++warp) {
    EXPECT_EQ(run(GemmSmall::StaticExtents{}, warp), run(small(1, 4), warp)) << warp;
  }
}

TEST(GemmSmall, OneArmAndOneCommitServeAGroup) {
  const auto load = run(small(1, 0), kLoad);
  EXPECT_EQ(count(load, "arrive.expect_tx"), 2 * 3);
  EXPECT_EQ(count(load, "load "), 2 * 3 * 2 * 2);  // two operands of two k steps
  EXPECT_THAT(load, Contains(EndsWith(" " + std::to_string(2 * (128 + 16) * 64 * 2))));
  const auto mma = run(small(1, 0), kMma);
  EXPECT_EQ(count(mma, "commit"), 2 * (3 + 1));
  EXPECT_EQ(count(mma, "mma"), 2 * 3 * 2 * 4);
}

TEST(GemmSmall, TheWeightsOfTheFirstTileComeBeforeTheWaitAndTheActivationsAfter) {
  for (std::uint32_t swap_ab = 0; swap_ab < 2; ++swap_ab) {
    const auto load = run(small(swap_ab, 2), kLoad);
    const auto wait = std::find_if(load.begin(), load.end(), [](const std::string& line) {
      return line.find("griddepcontrol") != std::string::npos;
    });
    ASSERT_NE(wait, load.end());
    const std::vector<std::string> before{load.begin(), wait};
    const std::string weights = "map " + std::to_string(swap_ab == 1 ? kRows : kColumns);
    EXPECT_EQ(count(before, "arrive.expect_tx"), 2);
    EXPECT_EQ(count(before, "load "), 2 * 2);
    EXPECT_EQ(count(before, weights), 2 * 2);
    EXPECT_EQ(count(load, "griddepcontrol"), 1);
    EXPECT_EQ(count(load, weights), 2 * 3 * 2);
    EXPECT_EQ(count(load, "load "), 2 * 3 * 2 * 2);
  }
}

TEST(GemmSmall, SwappedResultsAreWrittenByColumns) {
  // Each of two boxes of 64 rows of the accumulator is written by two warps.
  EXPECT_EQ(count(run(small(1, 0), 0), "st.shared.column"), 2);
  EXPECT_EQ(count(run(small(1, 0), 0), "st.shared "), 0);
  EXPECT_EQ(count(run(small(0, 0), 0), "st.shared "), 2);
}

}  // namespace
}  // namespace warptwin::scenarios::gemm_small_test
