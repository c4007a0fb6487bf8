#include "scenarios/conv2d_fprop.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/kernel/dispatch.hpp"

#include "tests/support/recording_machine.hpp"

namespace warptwin::scenarios::conv2d_fprop_test {
namespace {

using tests::RecordingMachine;

constexpr std::uint32_t kLoad = 5;
constexpr std::uint32_t kEpilogueLoad = 6;

/// One warp, of 3 x 1 filters with a pixel of padding over two images of 7 x 12 pixels: two tiles,
/// one of each image, of three k steps.
template <class Extents>
std::vector<std::string> run(const Extents& extents, std::uint32_t warp) {
  using Kernel = Conv2dFprop::Kernel<RecordingMachine, Extents>;
  constexpr ConvShape kShape{2, 7, 12, 64, 128, 3, 1, 1};
  const ConvWalk walk = ConvWalk::over(kShape, extents);
  RecordingMachine machine;
  machine.warp = warp;
  const typename Kernel::Problem problem{
      {{1, 2, 3, extents, walk.grid(kShape, extents.tile_n), 3}, 4, 1.0F}, walk};
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

TEST(Conv2dFprop, StaticAndDynamicExtentsGiveTheSameOperations) {
  const Conv2dFpropExtents<> dynamic{{{128, 128, 64, 4, 2}, 2}, 16};
  for (std::uint32_t warp = 0; warp < 7; ++warp) {
    EXPECT_EQ(run(Conv2dFprop::StaticExtents{}, warp), run(dynamic, warp)) << warp;
  }
}

TEST(Conv2dFprop, AStepsBoxOfTheImageIsMovedByItsTap) {
  const auto load = run(Conv2dFprop::StaticExtents{}, kLoad);
  EXPECT_EQ(count(load, "load "), 2 * 3 * 2);
  EXPECT_EQ(count(load, "map 1 at 0 -1 "), 2 * 3);  // the filter is one pixel wide, the padding too
  EXPECT_EQ(count(load, "map 2 at 0 1 "), 2);       // the second tap, of each tile
}

TEST(Conv2dFprop, TheResidualComesAfterAPrologueNoLongerThanATile) {
  const auto load = run(Conv2dFprop::StaticExtents{}, kLoad);
  // Fewer k steps than stages: a tile's last copy is its prologue's last.
  EXPECT_EQ(count(load, "one: arrive"), 2 * 3 + 2);
  const auto source = run(Conv2dFprop::StaticExtents{}, kEpilogueLoad);
  EXPECT_EQ(count(source, "map 4"), 2 * 2);  // two boxes of each tile
  EXPECT_EQ(count(source, "map 4 at 64 0 "), 2);
}

TEST(Conv2dFprop, TilesAndStepsCoverTheConvolution) {
  constexpr ConvShape kShape{2, 9, 17, 72, 40, 3, 2, 1};
  const ConvWalk walk = ConvWalk::over(kShape, Conv2dFpropExtents<>{{{128, 16, 64, 4, 2}, 2}, 16});
  EXPECT_EQ(kShape.out_height(), 9U);
  EXPECT_EQ(kShape.out_width(), 18U);
  EXPECT_EQ(walk.grid(kShape, 16).m, 2U * 2 * 2);
  EXPECT_EQ(walk.grid(kShape, 16).n, 3U);
  const ConvWalk::Pixel last = walk.pixel(7);
  EXPECT_EQ(last.n, 1);
  EXPECT_EQ(last.p, 8);
  EXPECT_EQ(last.q, 16);
  const ConvWalk::Step step = walk.step(2 * 3 + 1, 64);  // tap 3: r 1, s 1; the second 64 channels
  EXPECT_EQ(step.c, 64);
  EXPECT_EQ(step.tap, 3);
  EXPECT_EQ(step.dp, 0);
  EXPECT_EQ(step.dq, 0);
}

TEST(Conv2dFprop, StrideMovesTilesAndDilationMovesTaps) {
  constexpr ConvShape kShape{1, 9, 17, 64, 40, 3, 2, 1, 2, 3};
  EXPECT_EQ(kShape.out_height(), 3U);  // rows 0, 2 and 4 of the 11, whose seventh is the last tap
  EXPECT_EQ(kShape.out_width(), 8U);
  const ConvWalk walk = ConvWalk::over(kShape, Conv2dFpropExtents<>{{{128, 16, 64, 4, 2}, 2}, 4});
  const ConvWalk::Pixel second = walk.pixel(1);
  EXPECT_EQ(second.q, 4);
  const ConvWalk::Step last = walk.step(5, 64);
  EXPECT_EQ(last.dp, 2 * 3 - 1);
  EXPECT_EQ(last.dq, 1 * 3 - 1);
  const Coordinates<4> box = walk.box_of_x(second, last);
  EXPECT_EQ(box.at[1], 4 * 2 + 2);
  EXPECT_EQ(box.at[2], 5);
}

}  // namespace
}  // namespace warptwin::scenarios::conv2d_fprop_test
