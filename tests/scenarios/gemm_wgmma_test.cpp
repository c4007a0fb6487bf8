#include "scenarios/gemm_wgmma.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "common/kernel/dispatch.hpp"

#include "tests/support/recording_machine.hpp"

namespace warptwin::scenarios::gemm_wgmma_test {
namespace {

using tests::RecordingMachine;

constexpr std::uint32_t kLoad = 8;
constexpr std::uint32_t kSteps = 3;

/// One warp of one CTA, with the tiles of its column of 2 x 2 and three k steps.
template <class Extents>
std::vector<std::string> run(const Extents& extents,
                             std::uint32_t rank,
                             std::uint32_t warp,
                             std::uint32_t last_row_bytes = kWholeRow) {
  using Kernel = GemmWgmma::Kernel<RecordingMachine, Extents>;
  RecordingMachine machine;
  machine.warp = warp;
  machine.rank = rank;
  machine.ctas = extents.cluster().ctas();
  const TileWalk walk{TileGrid{2, 2}, extents.cluster()};
  const typename Kernel::Problem problem{1, 2, 3, extents, walk, {kSteps, last_row_bytes}};
  run_warp<Kernel>(machine, problem, {});
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

TEST(GemmWgmma, StaticAndDynamicExtentsGiveTheSameOperations) {
  const GemmWgmma::StaticExtents fixed;
  const GemmWgmmaExtents<> dynamic{128, 128, 64, 4, 1, 1};
  for (std::uint32_t warp = 0; warp < 12; ++warp) {
    EXPECT_EQ(run(fixed, 0, warp), run(dynamic, 0, warp)) << warp;
  }
}

TEST(GemmWgmma, OneWarpOfTheLoadWarpgroupLoads) {
  const GemmWgmma::StaticExtents extents;
  EXPECT_EQ(count(run(extents, 0, kLoad), "load"), 4 * kSteps * 2);
  EXPECT_EQ(count(run(extents, 0, kLoad + 1), "load"), 0);
  EXPECT_EQ(count(run(extents, 0, kLoad + 1), "setmaxnreg.dec"), 1);
}

TEST(GemmWgmma, ProductsOfZerosAloneAreLeftOut) {
  const GemmWgmma::StaticExtents extents;
  for (const auto& [bytes, products] : {std::pair{2U, 1}, {32U, 1}, {34U, 2}, {96U, 3}}) {
    const std::vector<std::string> lines = run(extents, 0, 0, bytes);
    EXPECT_EQ(count(lines, "wgmma a "), 4 * (4 * (kSteps - 1) + products)) << bytes;
    EXPECT_EQ(count(lines, "wgmma.commit_group"), 4 * kSteps) << bytes;
  }
  EXPECT_EQ(count(run(extents, 0, 0), "wgmma a "), 4 * 4 * kSteps);
}

TEST(KSteps, TheLastStageIsCutWhereAProductLessWillDo) {
  const auto of = [](std::uint32_t k, std::uint32_t tile_k, std::uint32_t size) {
    const KSteps steps = KSteps::covering(k, tile_k, size);
    return std::pair{steps.count, steps.last_row_bytes};
  };
  EXPECT_EQ(of(128, 64, 2), std::pair(2U, kWholeRow));
  EXPECT_EQ(of(127, 64, 2), std::pair(2U, kWholeRow));  // 126 bytes: four products
  EXPECT_EQ(of(112, 64, 2), std::pair(2U, 96U));
  EXPECT_EQ(of(65, 64, 2), std::pair(2U, 2U));
  EXPECT_EQ(of(1, 128, 1), std::pair(1U, 1U));
  EXPECT_EQ(of(31, 16, 2), std::pair(2U, kWholeRow));  // rows of 32 bytes are one product
}

TEST(GemmWgmma, AStageIsFreedOnceAndTheLastOfATileBehindTheLoop) {
  for (const std::uint32_t in_flight : {0U, 1U}) {
    const auto lines = run(GemmWgmmaExtents<>{128, 128, 64, 4, 1, in_flight}, 0, 4);
    EXPECT_EQ(count(lines, "one: arrive"), 4 * kSteps) << in_flight;
    EXPECT_EQ(count(lines, "wgmma.commit_group"), 4 * kSteps);
    EXPECT_EQ(count(lines, "wgmma.wait_group " + std::to_string(in_flight)),
              4 * (in_flight == 0 ? kSteps + 1 : kSteps));
  }
}

TEST(GemmWgmma, InAClusterEveryWarpFreesTheStageOfEveryCta) {
  const auto lines = run(GemmWgmmaExtents<>{128, 128, 64, 4, 2, 1}, 1, 0);
  EXPECT_EQ(count(lines, "arrive cta 0"), 2 * kSteps);
  EXPECT_EQ(count(lines, "arrive cta 1"), 2 * kSteps);
}

TEST(GemmWgmma, OfSixtyFourRowsTheSecondWarpgroupHasNone) {
  const GemmWgmmaExtents<> extents{64, 128, 64, 4, 1, 1};
  EXPECT_GT(count(run(extents, 0, 3), "wgmma"), 0);
  EXPECT_EQ(count(run(extents, 0, 4), "wgmma"), 0);
}

TEST(GemmWgmma, OfTwoHundredAndFiftySixRowsAWarpgroupMultipliesTwice64) {
  const GemmWgmmaExtents<> tall{256, 128, 64, 3, 1, 1};
  const GemmWgmmaExtents<> plain{128, 128, 64, 4, 1, 1};
  for (const std::uint32_t warp : {0U, 7U}) {
    const auto lines = run(tall, 0, warp);
    EXPECT_EQ(count(lines, "wgmma a "), 2 * count(run(plain, 0, warp), "wgmma a ")) << warp;
    EXPECT_EQ(count(lines, "wgmma.commit_group"), 4 * kSteps) << warp;
  }
  EXPECT_EQ(count(run(tall, 0, kLoad), "load"), 4 * kSteps * 2);
}

TEST(GemmWgmma, ATallTileThatRegistersDoNotHoldIsRefused) {
  ParameterSet values{GemmWgmma::parameters()};
  values.set("tile_m", 256);
  values.set("stages", 2);
  values.set("tile_n", 192);
  EXPECT_NO_THROW(GemmWgmma::workload(values));
  values.set("tile_n", 208);
  EXPECT_THROW(GemmWgmma::workload(values), ConfigError);
  values.set("tile_n", 128);
  values.set("tile_m", 192);
  EXPECT_THROW(GemmWgmma::workload(values), ConfigError);
}

}  // namespace
}  // namespace warptwin::scenarios::gemm_wgmma_test
