#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/kernel/dispatch.hpp"

#include "scenarios/gemm_block_scaled_sparse.hpp"
#include "tests/support/recording_machine.hpp"

namespace warptwin::scenarios::gemm_block_scaled_test {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using tests::RecordingMachine;

constexpr std::uint32_t kMma = 4;
constexpr std::uint32_t kLoad = 5;

/// One warp of one CTA over two tiles along N, of two k steps.
template <class Scenario = GemmBlockScaled, class Extents>
std::vector<std::string> run(const Extents& extents, std::uint32_t warp, std::uint32_t rank = 0) {
  using Kernel = typename Scenario::template Kernel<RecordingMachine, Extents>;
  RecordingMachine machine;
  machine.warp = warp;
  machine.rank = rank;
  machine.ctas = extents.cluster().ctas();
  const TileWalk walk{TileGrid{extents.cluster().m, 2}, extents.cluster()};
  const typename Kernel::Problem problem{{1, 2, 3, extents, walk, 2}, {}, {}, 4, 5};
  run_warp<Kernel>(machine, problem, SharedAddress{});
  for (const StageNote& note : machine.notes) {
    EXPECT_LT(note.step, StageStep::kDropped);
  }
  return machine.take();
}

std::vector<std::string> lines_with(const std::vector<std::string>& lines,
                                    const std::string& start) {
  std::vector<std::string> found;
  std::copy_if(lines.begin(), lines.end(), std::back_inserter(found), [&](const std::string& line) {
    return line.compare(0, start.size(), start) == 0;
  });
  return found;
}

TEST(GemmBlockScaled, StaticAndDynamicExtentsGiveTheSameOperations) {
  const GemmBlockScaled::StaticExtents fixed;
  const GemmBlockScaled::Extents dynamic{{0, 128, 128, 128, 4, 2}, 1, 1, 1};
  for (std::uint32_t warp = 0; warp < 6; ++warp) {
    EXPECT_EQ(run(fixed, warp), run(dynamic, warp)) << "warp " << warp;
  }
}

TEST(GemmBlockScaled, AStageIsFourCopiesAndTheirBytes) {
  const auto load = run(GemmBlockScaled::StaticExtents{}, kLoad);
  EXPECT_EQ(lines_with(load, "load").size(), 2 * 2 * 4U);
  const std::string bytes = std::to_string(2 * 128 * 128 + 2 * 512);
  for (const std::string& line : lines_with(load, "one: arrive.expect_tx")) {
    EXPECT_THAT(line, HasSubstr(bytes));
  }
}

// Columns 0 to 255 are accumulators, four slots of A follow, then four of B.
TEST(GemmBlockScaled, AStageHasItsOwnSlotOfScaleFactors) {
  const auto copies = lines_with(run(GemmBlockScaled::StaticExtents{}, kMma), "cp 1 ");
  ASSERT_EQ(copies.size(), 4 * 2U);
  for (std::uint32_t step = 0; step < 4; ++step) {
    EXPECT_THAT(copies[2 * step], StartsWith("cp 1 " + std::to_string(256 + 4 * step) + " "));
    EXPECT_THAT(copies[2 * step + 1], StartsWith("cp 1 " + std::to_string(272 + 4 * step) + " "));
  }
}

std::vector<std::string> scales_of_first_stage(std::uint32_t format,
                                               std::uint32_t tile_n,
                                               std::uint32_t tile_k) {
  const GemmBlockScaled::Extents extents{{format, 128, tile_n, tile_k, 2, 1}, 1, 1, 1};
  std::vector<std::string> scales;
  for (const std::string& line : lines_with(run(extents, kMma), "mma.block_scale")) {
    const std::string tail = line.substr(line.find("scales"));
    scales.push_back(tail.substr(0, tail.rfind(' ')));  // without "add" or "set"
  }
  scales.resize(4);
  return scales;
}

// "scales A's column byte B's column byte" of the four instructions of a stage.
TEST(GemmBlockScaled, EachInstructionHasTheFactorsOfItsElements) {
  EXPECT_THAT(
      scales_of_first_stage(0, 128, 128),
      ElementsAre(
          "scales 128 0 136 0", "scales 128 1 136 1", "scales 128 2 136 2", "scales 128 3 136 3"));
  EXPECT_THAT(
      scales_of_first_stage(1, 128, 256),
      ElementsAre(
          "scales 128 0 144 0", "scales 128 2 144 2", "scales 132 0 148 0", "scales 132 2 148 2"));
  EXPECT_THAT(
      scales_of_first_stage(2, 256, 256),
      ElementsAre(
          "scales 256 0 288 0", "scales 260 0 296 0", "scales 264 0 304 0", "scales 268 0 312 0"));
}

TEST(GemmBlockScaled, ANarrowTileBeginsWithinABlockOfFactors) {
  const GemmBlockScaled::Extents extents{{0, 128, 64, 128, 4, 1}, 1, 1, 1};
  const auto mmas = lines_with(run(extents, kMma), "mma.block_scale");
  ASSERT_EQ(mmas.size(), 2 * 2 * 4U);
  // The second tile: stage 2 of four, rows 64 and up.
  EXPECT_THAT(mmas[8], EndsWith("scales 72 0 90 0 set"));
}

// Its own rows of A and half of B's, with factors of 128 rows of A and of all 256 of B; the leader
// announces what both load, and copies to the tensor memory of both.
TEST(GemmBlockScaled, EachCtaOfAPairLoadsTheFactorsOfAllRowsOfB) {
  const GemmBlockScaled::Extents extents{{0, 256, 256, 128, 4, 1}, 2, 2, 1};
  const std::string bytes = std::to_string(2 * (2 * 128 * 128 + 3 * 512));
  for (const std::uint32_t rank : {0U, 1U}) {
    const auto load = run(extents, kLoad, rank);
    EXPECT_EQ(lines_with(load, "load").size(), 2 * 2 * 5U);
    const auto armed = lines_with(load, "one: arrive.expect_tx");
    EXPECT_EQ(armed.size(), rank == 0 ? 4U : 0U);
    EXPECT_THAT(armed, Each(HasSubstr(bytes)));
    const auto mma = run(extents, kMma, rank);
    EXPECT_EQ(lines_with(mma, "cp 2 ").size(), rank == 0 ? 4 * 3U : 0U);
    EXPECT_EQ(lines_with(mma, "mma.block_scale").size(), rank == 0 ? 4 * 4U : 0U);
  }
}

// Columns 0 to 255 are accumulators; three slots of A's factors follow, of B's, and of metadata.
TEST(GemmBlockScaledSparse, EachInstructionHasItsMetadataAndItsFactors) {
  const GemmBlockScaledSparse::StaticExtents extents;
  const auto mmas = lines_with(run<GemmBlockScaledSparse>(extents, kMma), "mma.sp.block_scale");
  ASSERT_EQ(mmas.size(), 2 * 2 * 4U);
  EXPECT_THAT(mmas[0], EndsWith("metadata 280 scales 256 0 268 0 set"));
  EXPECT_THAT(mmas[1], EndsWith("metadata 282 scales 256 1 268 1 add"));
  EXPECT_THAT(mmas[3], EndsWith("metadata 286 scales 256 3 268 3 add"));
  EXPECT_THAT(mmas[4], EndsWith("metadata 288 scales 260 0 272 0 add"));
}

TEST(GemmBlockScaledSparse, AStageIsHalfOfARowOfAAndTheMetadata) {
  const GemmBlockScaledSparse::StaticExtents extents;
  const auto load = run<GemmBlockScaledSparse>(extents, kLoad);
  EXPECT_EQ(lines_with(load, "load").size(), 2 * 2 * 6U);  // B in two panels
  const std::string bytes = std::to_string(128 * 128 + 128 * 256 + 2 * 128 * 16 + 2 * 512);
  for (const std::string& line : lines_with(load, "one: arrive.expect_tx")) {
    EXPECT_THAT(line, HasSubstr(bytes));
  }
}

}  // namespace
}  // namespace warptwin::scenarios::gemm_block_scaled_test
