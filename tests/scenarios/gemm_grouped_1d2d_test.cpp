#include "scenarios/gemm_grouped_1d2d.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "common/kernel/dispatch.hpp"

#include "tests/support/recording_machine.hpp"

namespace warptwin::scenarios::gemm_grouped_1d2d_test {
namespace {

using tests::RecordingMachine;

constexpr std::uint32_t kMma = 4;
constexpr std::uint32_t kLoad = 5;

/// One warp of a cluster: groups of two tiles, of none, of one and of none; three k steps; two
/// clusters a group.
template <class Extents>
std::vector<std::string> run(const Extents& extents, std::uint32_t warp, std::uint32_t cluster) {
  using Kernel = GemmGrouped1d2d::Kernel<RecordingMachine, Extents>;
  constexpr std::uint32_t kTiles[kGroups] = {2, 0, 1, 0};
  typename Kernel::Problem problem{};
  problem.extents = extents;
  problem.group_clusters = 2;
  for (std::uint32_t group = 0; group < kGroups; ++group) {
    const int map = 10 * static_cast<int>(group);
    const TileWalk walk{TileGrid{kTiles[group], 1}, extents.cluster()};
    problem.groups[group] = {map, map + 1, map + 2, map + 3, extents, walk, 3, {}, 2 * group};
    problem.groups[group].b_scales.rows = 1;
  }
  RecordingMachine machine;
  machine.warp = warp;
  machine.cluster = cluster;
  machine.clusters = 2 * kGroups;
  run_warp<Kernel>(machine, problem, {});
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

const GemmGrouped1d2d::StaticExtents kFixed;

TEST(GemmGrouped1d2d, StaticAndDynamicExtentsGiveTheSameOperations) {
  const GemmBlockwiseFp8Extents<> dynamic{{128, 64, 128, 4, 2}, 1, 1, 1};
  for (std::uint32_t warp = 0; warp < 6; ++warp) {
    EXPECT_EQ(run(kFixed, warp, 1), run(dynamic, warp, 1)) << "warp " << warp;
  }
}

TEST(GemmGrouped1d2d, AClusterComputesTheTileOfItsIndexInItsGroup) {
  EXPECT_EQ(count(run(kFixed, kLoad, 0), "map 0 at"), 3);
  EXPECT_EQ(count(run(kFixed, kLoad, 1), "map 0 at"), 3);
  EXPECT_NE(run(kFixed, kLoad, 0), run(kFixed, kLoad, 1));
  EXPECT_EQ(count(run(kFixed, kLoad, 4), "map 20 at"), 3);
  EXPECT_EQ(count(run(kFixed, kLoad, 4), "map 21 at"), 3);
}

TEST(GemmGrouped1d2d, WithoutATileTensorMemoryIsAllocatedAndFreedAndNoRingIsTouched) {
  for (const std::uint32_t cluster : {2U, 3U, 5U, 6U, 7U}) {
    EXPECT_EQ(count(run(kFixed, kLoad, cluster), "load "), 0);
    const auto mma = run(kFixed, kMma, cluster);
    EXPECT_EQ(count(mma, "mma "), 0);
    EXPECT_EQ(count(mma, "dealloc"), 1);
  }
}

}  // namespace
}  // namespace warptwin::scenarios::gemm_grouped_1d2d_test
