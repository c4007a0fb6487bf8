#include "scenarios/gemm_2sm.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/kernel/dispatch.hpp"

#include "scenarios/gemm_2sm_mn.hpp"
#include "tests/support/recording_machine.hpp"

namespace warptwin::scenarios::gemm_2sm_test {
namespace {

using ::testing::Contains;
using ::testing::EndsWith;
using ::testing::Not;
using ::testing::StartsWith;
using tests::RecordingMachine;

constexpr std::uint32_t kMma = 4;
constexpr std::uint32_t kLoad = 5;

/// One warp of one CTA, over a matrix of 2 x 2 tiles of a CTA and three k steps.
template <class Scenario = Gemm2sm, class Extents>
std::vector<std::string> run(const Extents& extents, std::uint32_t rank, std::uint32_t warp) {
  using Kernel = typename Scenario::template Kernel<RecordingMachine, Extents>;
  RecordingMachine machine;
  machine.warp = warp;
  machine.rank = rank;
  machine.ctas = extents.cluster().ctas();
  const TileWalk walk{TileGrid{2, 2}, extents.cluster()};
  run_warp<Kernel>(machine, typename Kernel::Problem{1, 2, 3, extents, walk, 3}, {});
  for (const StageNote& note : machine.notes) {
    EXPECT_LT(note.step, StageStep::kDropped);
  }
  return machine.take();
}

auto count(const std::vector<std::string>& lines, const std::string& start) {
  return std::count_if(lines.begin(), lines.end(), [&](const std::string& line) {
    return line.compare(0, start.size(), start) == 0;
  });
}

TEST(Gemm2sm, StaticAndDynamicExtentsGiveTheSameOperations) {
  const Gemm2sm::StaticExtents fixed;
  const Gemm2smExtents<> dynamic{{256, 256, 64, 4, 2}, 2, 1};
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    for (std::uint32_t warp = 0; warp < 6; ++warp) {
      EXPECT_EQ(run(fixed, rank, warp), run(dynamic, rank, warp)) << rank << ", warp " << warp;
    }
  }
}

TEST(Gemm2sm, TheLeaderArmsForBothAndBothCopy) {
  const auto leader = run(Gemm2sm::StaticExtents{}, 0, kLoad);
  const auto peer = run(Gemm2sm::StaticExtents{}, 1, kLoad);
  EXPECT_EQ(count(leader, "one: arrive.expect_tx"), 2 * 3);  // one per k step of two tiles
  EXPECT_THAT(leader, Contains(EndsWith(" 65536")));         // A and B, of both
  EXPECT_EQ(count(peer, "one: arrive.expect_tx"), 0);
  EXPECT_EQ(count(leader, "load"), 2 * 6);
  EXPECT_EQ(count(peer, "load"), 2 * 6);
  EXPECT_THAT(peer, Not(Contains(EndsWith("group 1"))));
}

// Of the peer: A's columns from 128 on, B's from 128 on, 64 a panel, and 64 rows of K a step.
TEST(Gemm2sm, MnMajorTilesAreCopiedPanelByPanel) {
  const auto peer = run<Gemm2smMn>(Gemm2smMn::StaticExtents{}, 1, kLoad);
  std::vector<std::string> places;
  for (const std::string& line : peer) {
    if (count({line}, "load") != 0 && places.size() < 8) {
      places.push_back(line.substr(line.find("map"), line.find(" mbar") - line.find("map")));
    }
  }
  ASSERT_EQ(places.size(), 8U);
  EXPECT_THAT(places[0], StartsWith("map 1 at 128 0"));
  EXPECT_THAT(places[1], StartsWith("map 1 at 192 0"));
  EXPECT_THAT(places[2], StartsWith("map 2 at 128 0"));
  EXPECT_THAT(places[3], StartsWith("map 2 at 192 0"));
  EXPECT_THAT(places[4], StartsWith("map 1 at 128 64"));
}

TEST(Gemm2sm, TheSharersOfAnMnMajorTileCopyWholePanels) {
  const auto lines = run<Gemm2smMn>(Gemm2smMn::Extents{{256, 256, 64, 4, 2}, 2, 2}, 3, kLoad);
  EXPECT_EQ(count(lines, "load"), 3 * (1 + 2));  // of A half, B is shared by nobody
}

TEST(Gemm2sm, AnMnMajorProductTakesAsManyInstructions) {
  const auto leader = run<Gemm2smMn>(Gemm2smMn::StaticExtents{}, 0, kMma);
  EXPECT_EQ(count(leader, "mma"), 2 * 3 * 4);
}

TEST(Gemm2sm, TheLeaderAloneMultipliesAndCommits) {
  const auto leader = run(Gemm2sm::StaticExtents{}, 0, kMma);
  const auto peer = run(Gemm2sm::StaticExtents{}, 1, kMma);
  EXPECT_EQ(count(leader, "mma"), 2 * 3 * 4);  // four instructions to a k step
  EXPECT_EQ(count(leader, "commit"), 2 * (3 + 1));
  EXPECT_EQ(count(peer, "mma"), 0);
  EXPECT_EQ(count(peer, "commit"), 0);
  EXPECT_EQ(count(peer, "tcgen05.alloc 2"), 1);
  EXPECT_EQ(count(peer, "tcgen05.dealloc 2"), 1);
}

TEST(Gemm2sm, BothEpiloguesFreeTheLeadersAccumulator) {
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    const auto epilogue = run(Gemm2sm::StaticExtents{}, rank, 1);
    // Of two tiles; and tmem.done, of the peer and of its own CTA.
    EXPECT_EQ(count(epilogue, "arrive cta 0"), rank == 0 ? 2 : 2 + 1);
    EXPECT_EQ(count(epilogue, "arrive cta 1"), rank == 0 ? 1 : 0);
    EXPECT_THAT(epilogue.back(), StartsWith("cluster.wait"));
  }
}

}  // namespace
}  // namespace warptwin::scenarios::gemm_2sm_test
