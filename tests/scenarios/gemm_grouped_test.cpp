#include "scenarios/gemm_grouped.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "common/kernel/dispatch.hpp"

#include "tests/support/recording_machine.hpp"

namespace warptwin::scenarios::gemm_grouped_test {
namespace {

using tests::RecordingMachine;

constexpr std::uint32_t kMma = 4;
constexpr std::uint32_t kLoad = 5;
constexpr std::uint32_t kScheduler = 6;

/// Groups of two, no, and three tiles; one column of tiles.
template <class Extents>
auto problem_of(const Extents& extents) {
  return GemmGroupedProblem<RecordingMachine, Extents>{
      {1, 2, 3, 4}, {5, 6, 7, 8}, {9, 10, 11, 12}, extents, {2, 0, 3, 0}, 1, 3};
}

/// One warp of CTA `cluster` of two: it takes its first tile, and is told that there is no other.
template <class Extents>
std::vector<std::string> run(const Extents& extents, std::uint32_t warp, std::uint32_t cluster) {
  RecordingMachine machine;
  machine.warp = warp;
  machine.clusters = 2;
  machine.cluster = cluster;
  run_warp<GemmGrouped::Kernel<RecordingMachine, Extents>>(machine, problem_of(extents), {});
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

const GemmGrouped::StaticExtents kFixed;

TEST(GemmGrouped, StaticAndDynamicExtentsGiveTheSameOperations) {
  const GemmGroupedExtents<> dynamic{{128, 128, 64, 4, 2}, 1};
  for (std::uint32_t warp = 0; warp < 7; ++warp) {
    EXPECT_EQ(run(kFixed, warp, 1), run(dynamic, warp, 1)) << "warp " << warp;
  }
}

TEST(GemmGrouped, TheTilesOfAllGroupsStandInARow) {
  const auto problem = problem_of(kFixed);
  EXPECT_EQ(problem.tile(1).group, 0U);
  EXPECT_EQ(problem.tile(1).tile.m, 1U);
  EXPECT_EQ(problem.tile(2).group, 2U);  // group 1 is empty
  EXPECT_EQ(problem.tile(4).tile.m, 2U);
  EXPECT_FALSE(problem.tile(5).exists());
}

TEST(GemmGrouped, TheSchedulerPublishesFromTheSecondTileOnAndThenThatThereIsNone) {
  // Of five tiles CTA 0 has 0, 2 and 4.
  const auto first = run(kFixed, kScheduler, 0);
  EXPECT_EQ(count(first, "st.shared.u32"), 3 * 3);
  EXPECT_EQ(count(first, "arrive"), 3);
  EXPECT_EQ(count(first, "st.shared.u32 3"), 2);              // group 2
  EXPECT_EQ(count(run(kFixed, kScheduler, 1), "arrive"), 2);  // 1 and 3
}

TEST(GemmGrouped, AGroupIsReadByItsOwnMap) {
  EXPECT_EQ(count(run(kFixed, kLoad, 0), "map 1 at"), 3);
  EXPECT_EQ(count(run(kFixed, kLoad, 0), "map 5 at"), 3);
  EXPECT_EQ(count(run(kFixed, kLoad, 2), "map 3 at"), 3);
  EXPECT_EQ(count(run(kFixed, kLoad, 2), "map 7 at"), 3);
}

TEST(GemmGrouped, OneLaneOfEachReadingWarpFreesASlot) {
  EXPECT_EQ(count(run(kFixed, kLoad, 0), "one: arrive "), 1);
  EXPECT_EQ(count(run(kFixed, kMma, 0), "one: arrive "), 1);
  EXPECT_EQ(count(run(kFixed, 3, 0), "one: arrive "), 1);
}

TEST(GemmGrouped, ACtaWithoutATileTouchesNoRing) {
  EXPECT_EQ(count(run(kFixed, kScheduler, 5), "arrive"), 0);
  EXPECT_EQ(count(run(kFixed, kLoad, 5), "load"), 0);
  EXPECT_EQ(count(run(kFixed, kMma, 5), "commit"), 0);
  EXPECT_EQ(count(run(kFixed, 0, 5), "arrive"), 1);  // tmem.done
}

}  // namespace
}  // namespace warptwin::scenarios::gemm_grouped_test
