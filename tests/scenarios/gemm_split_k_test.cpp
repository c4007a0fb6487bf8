#include "scenarios/gemm_split_k.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "common/kernel/dispatch.hpp"

#include "tests/support/recording_machine.hpp"

namespace warptwin::scenarios::gemm_split_k_test {
namespace {

using tests::RecordingMachine;

constexpr std::uint32_t kMma = 4;
constexpr std::uint32_t kLoad = 5;
constexpr std::uint32_t kEpilogueLoad = 6;
constexpr std::uint32_t kTilesOfK = 7;

/// One warp of the CTA that computes split `split` of three of the one tile.
template <class Extents>
std::vector<std::string> run(const Extents& extents, std::uint32_t warp, std::uint32_t split) {
  using Kernel = GemmSplitK::Kernel<RecordingMachine, Extents>;
  RecordingMachine machine;
  machine.warp = warp;
  machine.clusters = 3;
  machine.cluster = split;
  run_warp<Kernel>(
      machine,
      typename Kernel::Problem{1, 2, 3, 4, extents, {1, 1}, TileGrid{1, 3}, kTilesOfK, 3, {}},
      {});
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

const GemmSplitK::StaticExtents kFixed;
constexpr std::uint32_t kBoxes = 4;  // of 32 columns

TEST(GemmSplitK, StaticAndDynamicExtentsGiveTheSameOperations) {
  const GemmEpilogueLoadExtents<> dynamic{{128, 128, 64, 4, 2}, 2};
  for (std::uint32_t split = 0; split < 3; ++split) {
    for (std::uint32_t warp = 0; warp < 7; ++warp) {
      EXPECT_EQ(run(kFixed, warp, split), run(dynamic, warp, split)) << "warp " << warp;
    }
  }
}

TEST(GemmSplitK, TheSplitsTakeAllOfKOnce) {
  EXPECT_EQ(count(run(kFixed, kLoad, 0), "load"), 2 * 2);
  EXPECT_EQ(count(run(kFixed, kLoad, 1), "load"), 2 * 2);
  EXPECT_EQ(count(run(kFixed, kLoad, 2), "load"), 2 * 3);
  EXPECT_EQ(count(run(kFixed, kMma, 2), "commit"), 3 + 1);
}

TEST(GemmSplitK, EachSplitButTheFirstWaitsForTheOneBeforeAndTakesItsSum) {
  EXPECT_EQ(count(run(kFixed, kEpilogueLoad, 0), "one: wait_global"), 0);
  EXPECT_EQ(count(run(kFixed, kEpilogueLoad, 0), "load"), 0);
  EXPECT_EQ(count(run(kFixed, 0, 0), "ld.shared.row"), 0);
  for (const std::uint32_t split : {1U, 2U}) {
    const auto lines = run(kFixed, kEpilogueLoad, split);
    EXPECT_EQ(count(lines, "one: wait_global"), 1);
    EXPECT_EQ(count(lines, "one: wait_global " + std::to_string(split)), 1);
    EXPECT_EQ(count(lines, "load"), kBoxes);
    EXPECT_EQ(count(run(kFixed, 3, split), "ld.shared.row"), kBoxes * 2);  // 16 columns each
  }
}

TEST(GemmSplitK, EachSplitButTheLastSetsItsWordWhenItsStoresAreComplete) {
  for (const std::uint32_t split : {0U, 1U}) {
    const auto lines = run(kFixed, 0, split);
    const std::string sets = "one: st.release " + std::to_string(split + 1);
    const auto word = std::find(lines.begin(), lines.end(), sets);
    ASSERT_NE(word, lines.end());
    EXPECT_EQ(*(word - 1), "wait_group 0");
    EXPECT_EQ(count(lines, "one: st.release"), 1);
    EXPECT_EQ(count(run(kFixed, 1, split), "one: st.release"), 0);  // one warp stores
  }
  EXPECT_EQ(count(run(kFixed, 0, 2), "one: st.release"), 0);
}

TEST(GemmSplitK, ATileHasAWordForEachSplitOrOneForAll) {
  GemmSplitKProblem<RecordingMachine, GemmSplitK::StaticExtents> problem{
      1, 2, 3, 4, kFixed, {2, 3}, TileGrid{2, 9}, kTilesOfK, 3, {GlobalAddress{64}, 6}};
  EXPECT_EQ(problem.flag(0, {1, 2}).at, GlobalAddress{64 + 4 * 5});
  EXPECT_EQ(problem.flag(2, {1, 2}).at, GlobalAddress{64 + 4 * (2 * 6 + 5)});
  problem.words.a_split = 0;
  EXPECT_EQ(problem.flag(2, {1, 2}).at, GlobalAddress{64 + 4 * 5});
  EXPECT_EQ(problem.work({1, 5}).before.value, 1U);
  EXPECT_EQ(problem.work({1, 5}).summed.value, 2U);
}

}  // namespace
}  // namespace warptwin::scenarios::gemm_split_k_test
