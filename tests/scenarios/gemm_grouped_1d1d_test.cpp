#include "scenarios/gemm_grouped_1d1d.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/kernel/dispatch.hpp"

#include "tests/support/recording_machine.hpp"

namespace warptwin::scenarios::gemm_grouped_1d1d_test {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using tests::RecordingMachine;

constexpr std::uint32_t kLoad = 4;
constexpr std::uint32_t kMma = 5;
constexpr std::uint32_t kScaleLoad = 6;
constexpr std::uint32_t kScaleToTmem = 7;
constexpr std::uint32_t kScheduler = 11;
constexpr std::uint32_t kSchedulerOfWide = 6;

using Dynamic = GemmGrouped1d1dExtents<>;
const GemmGrouped1d1d::StaticExtents kFixed;
const Dynamic kWide{{{0, 128, 128, 128, 4, 2}, 1, 1, 1}};

/// One warp of CTA `cluster` of two: of groups of two, no, and three tiles of rows, a column of
/// `tiles_n`, three k steps. It takes its first tile, and is told that there is no other.
template <class Extents>
std::vector<std::string> run(const Extents& extents,
                             std::uint32_t warp,
                             std::uint32_t cluster = 0,
                             std::uint32_t tiles_n = 1) {
  using Kernel = GemmGrouped1d1d::Kernel<RecordingMachine, Extents>;
  typename Kernel::Problem problem{};
  for (std::uint32_t group = 0; group < kGroups; ++group) {
    const int map = 10 * static_cast<int>(group);
    problem.a[group] = map;
    problem.b[group] = map + 1;
    problem.sfa[group] = map + 2;
    problem.sfb[group] = map + 3;
    problem.d[group] = map + 4;
  }
  problem.extents = extents;
  problem.tiles_m[0] = 2;
  problem.tiles_m[2] = 3;
  problem.tiles_n = tiles_n;
  problem.k_tiles = 3;
  RecordingMachine machine;
  machine.warp = warp;
  machine.clusters = 2;
  machine.cluster = cluster;
  run_warp<Kernel>(machine, problem, {});
  for (const StageNote& note : machine.notes) {
    EXPECT_LT(note.step, StageStep::kDropped);
  }
  return machine.take();
}

std::vector<std::string> lines_with(const std::vector<std::string>& lines,
                                    const std::string& part) {
  std::vector<std::string> found;
  std::copy_if(lines.begin(), lines.end(), std::back_inserter(found), [&](const std::string& line) {
    return line.find(part) != std::string::npos;
  });
  return found;
}

TEST(GemmGrouped1d1d, StaticAndDynamicExtentsGiveTheSameOperations) {
  const Dynamic dynamic{{{0, 128, 32, 128, 4, 2}, 1, 1, 1}};
  for (std::uint32_t warp = 0; warp < 12; ++warp) {
    EXPECT_EQ(run(kFixed, warp, 1), run(dynamic, warp, 1)) << "warp " << warp;
  }
}

TEST(GemmGrouped1d1d, TheWidthOfATileDecidesWhichWarpsThereAre) {
  using Kernel = GemmGrouped1d1d::Kernel<RecordingMachine, Dynamic>;
  EXPECT_EQ(roles_of<Kernel>(kWide).warps(), 7U);
  EXPECT_EQ(roles_of<Kernel>(kWide).role_of(kSchedulerOfWide), Role::kScheduler);
  const auto narrow = roles_of<Kernel>(Dynamic{{{0, 128, 32, 128, 4, 2}, 1, 1, 1}});
  EXPECT_EQ(narrow.warps(), Kernel::kRoles.warps());
  EXPECT_EQ(narrow.role_of(kScaleLoad), Role::kScaleLoad);
  EXPECT_EQ(narrow.role_of(kScheduler), Role::kScheduler);
  // Their quarters of the lanes.
  std::vector<std::uint32_t> quarters;
  for (std::uint32_t warp = 0; warp < narrow.warps(); ++warp) {
    if (narrow.role_of(warp) == Role::kScaleToTmem) {
      quarters.push_back(warp % kWarpsPerWarpgroup);
    }
  }
  EXPECT_THAT(quarters, testing::UnorderedElementsAre(0U, 1U, 2U, 3U));
}

TEST(GemmGrouped1d1d, ASlotOfTilesIsFreedByEveryWarpThatReadsIt) {
  const auto last_count = [](const auto& extents) {
    const std::string line = lines_with(run(extents, 0), "init ").back();  // of work.empty
    return line.substr(line.rfind(' ') + 1);
  };
  EXPECT_EQ(last_count(kFixed), "11");
  EXPECT_EQ(last_count(kWide), "6");
}

TEST(GemmGrouped1d1d, FactorsOfBAreNotWithTheOperandsOfANarrowTile) {
  EXPECT_EQ(lines_with(run(kFixed, kLoad), "map 3 at").size(), 0U);
  EXPECT_EQ(lines_with(run(kFixed, kScaleLoad), "map 3 at").size(), 3U);
  EXPECT_EQ(lines_with(run(kWide, kLoad), "map 3 at").size(), 3U);
  const auto bytes = [](const auto& extents) {
    return lines_with(run(extents, kLoad), "expect_tx").front();
  };
  EXPECT_THAT(bytes(kFixed), EndsWith(std::to_string(128 * 128 + 32 * 128 + 512)));
  EXPECT_THAT(bytes(kWide), EndsWith(std::to_string(2 * 128 * 128 + 2 * 512)));
}

TEST(GemmGrouped1d1d, AGroupIsReadByItsOwnMaps) {
  EXPECT_EQ(lines_with(run(kFixed, kLoad, 2), "map 20 at").size(), 3U);
  EXPECT_EQ(lines_with(run(kFixed, kLoad, 2), "map 22 at").size(), 3U);
  EXPECT_EQ(lines_with(run(kFixed, kScaleLoad, 2), "map 23 at").size(), 3U);
}

// Tile 1 of eight rows: rows 8 and up of B. Tile 22: rows 176 and up, in the second block of rows,
// its second quarter, from line 16 on. Three k steps of a block each lie between blocks of rows.
TEST(GemmGrouped1d1d, ANarrowTileBeginsAtItsLineOfABlock) {
  const Dynamic eight{{{0, 128, 8, 128, 4, 2}, 1, 1, 1}};
  const auto second = lines_with(run(eight, kScaleLoad, 2, 23), "map 3 at 0");
  ASSERT_EQ(second.size(), 3U);
  EXPECT_THAT(second[0], testing::HasSubstr("at 0 8 "));
  EXPECT_THAT(second[1], testing::HasSubstr("at 0 40 "));
  const auto late = lines_with(run(eight, kScaleLoad, 44, 23), "map 3 at 0");
  ASSERT_EQ(late.size(), 3U);
  EXPECT_THAT(late[0], testing::HasSubstr("at 0 " + std::to_string(3 * 32 + 16) + " "));
  EXPECT_THAT(lines_with(run(eight, kScaleToTmem, 44, 23), "ld.shared.row").front(),
              EndsWith("row 0 column 1"));
}

// Two accumulators of 32 columns, four slots of 4 columns of A's factors, then four of B's.
TEST(GemmGrouped1d1d, AStageHasItsOwnSlotsOfFactors) {
  EXPECT_THAT(
      lines_with(run(kFixed, kScaleToTmem), "st 1 lane"),
      ElementsAre("st 1 lane 96 column 80", "st 1 lane 96 column 84", "st 1 lane 96 column 88"));
  const auto mmas = lines_with(run(kFixed, kMma), "mma.block_scale");
  ASSERT_EQ(mmas.size(), 3 * 4U);
  EXPECT_THAT(mmas[0], EndsWith("scales 64 0 80 0 set"));
  EXPECT_THAT(mmas[4], EndsWith("scales 68 0 84 0 add"));
  EXPECT_EQ(lines_with(run(kFixed, kMma), "cp 1 ").size(), 3U);
  EXPECT_EQ(lines_with(run(kWide, kMma), "cp 1 ").size(), 6U);
}

TEST(GemmGrouped1d1d, ACtaWithoutATileTouchesNoRing) {
  EXPECT_EQ(lines_with(run(kFixed, kScheduler, 5), "arrive").size(), 0U);
  EXPECT_EQ(lines_with(run(kFixed, kLoad, 5), "load").size(), 0U);
  EXPECT_EQ(lines_with(run(kFixed, kScaleLoad, 5), "load").size(), 0U);
  EXPECT_EQ(lines_with(run(kFixed, kMma, 5), "commit").size(), 0U);
  EXPECT_EQ(lines_with(run(kFixed, kScaleToTmem, 5), "arrive").size(), 1U);  // tmem.done
}

}  // namespace
}  // namespace warptwin::scenarios::gemm_grouped_1d1d_test
