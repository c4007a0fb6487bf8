#include "scenarios/gemm_swiglu.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/kernel/dispatch.hpp"

#include "tests/support/recording_machine.hpp"

namespace warptwin::scenarios::gemm_swiglu_test {
namespace {

using tests::RecordingMachine;

constexpr std::uint32_t kLoad = 5;
constexpr std::uint32_t kEpilogueLoad = 6;
constexpr std::uint32_t kTilesOfK = 3;

/// One warp over two tiles of one box.
template <class Extents>
std::vector<std::string> run(const Extents& extents, std::uint32_t warp, bool has_bias = true) {
  using Kernel = GemmSwiglu::Kernel<RecordingMachine, Extents>;
  RecordingMachine machine;
  machine.warp = warp;
  run_warp<Kernel>(
      machine,
      typename Kernel::Problem{{1, 2, 3, extents, TileGrid{1, 2}, kTilesOfK}, 4, 5, has_bias},
      {});
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

const GemmSwiglu::StaticExtents kFixed;

TEST(GemmSwiglu, StaticAndDynamicExtentsGiveTheSameOperations) {
  const GemmEpilogueLoadExtents<> dynamic{{128, 128, 64, 4, 2}, 2};
  for (std::uint32_t warp = 0; warp < 7; ++warp) {
    EXPECT_EQ(run(kFixed, warp), run(dynamic, warp)) << "warp " << warp;
  }
}

TEST(GemmSwiglu, AStageHoldsHalfATileOfEachRightHandSide) {
  const auto load = run(kFixed, kLoad);
  EXPECT_EQ(count(load, "load"), 2 * kTilesOfK * 3);
  EXPECT_EQ(count(load, "map 2 at 64 64 "), 1);  // second tile, second k step: rows from 64 on
  EXPECT_EQ(count(load, "map 4 at 64 64 "), 1);
  // 128 x 64 of A, and 64 x 64 of each of the others.
  EXPECT_EQ(std::count_if(load.begin(),
                          load.end(),
                          [](const std::string& line) {
                            return line.find("arrive.expect_tx") != std::string::npos &&
                                   line.ends_with(" 32768");
                          }),
            2 * kTilesOfK);
}

TEST(GemmSwiglu, BothRowsOfBiasesAreReadByEveryLaneAndFreedOnce) {
  EXPECT_EQ(count(run(kFixed, kEpilogueLoad), "load"), 2);
  const auto epilogue = run(kFixed, 2);
  EXPECT_EQ(count(epilogue, "ld.shared.row"), 2 * 2 * 4);  // 64 columns, 16 to a fragment
  for (const std::string& line : epilogue) {
    if (line.find("ld.shared.row") != std::string::npos) {
      EXPECT_THAT(line, testing::HasSubstr("row 0"));
    }
  }
  EXPECT_EQ(count(epilogue, "arrive"), 2 + 2 + 1);  // source.empty, accum.empty, tmem.done
}

TEST(GemmSwiglu, WithoutBiasesNobodyTouchesTheirRing) {
  EXPECT_EQ(count(run(kFixed, kEpilogueLoad, false), "load"), 0);
  const auto epilogue = run(kFixed, 0, false);
  EXPECT_EQ(count(epilogue, "ld.shared.row"), 0);
  EXPECT_EQ(count(epilogue, "arrive"), 2 + 1);
}

}  // namespace
}  // namespace warptwin::scenarios::gemm_swiglu_test
