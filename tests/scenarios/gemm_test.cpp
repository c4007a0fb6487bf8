#include "scenarios/gemm.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "common/kernel/dispatch.hpp"

#include "tests/support/recording_machine.hpp"

namespace warptwin::scenarios::gemm_test {
namespace {

using tests::RecordingMachine;

template <class Extents>
std::vector<std::string> run(const Extents& extents,
                             std::uint32_t warp,
                             std::uint32_t clusters = 4) {
  using Kernel = Gemm::Kernel<RecordingMachine, Extents>;
  RecordingMachine machine;
  machine.warp = warp;
  machine.clusters = clusters;
  run_warp<Kernel>(machine, typename Kernel::Problem{1, 2, 3, extents, TileGrid{2, 2}, 3}, {});
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

TEST(Gemm, StaticAndDynamicExtentsGiveTheSameOperations) {
  const Gemm::StaticExtents fixed;
  const GemmExtents<> dynamic{128, 128, 64, 4, 2};
  for (std::uint32_t warp = 0; warp < 6; ++warp) {
    EXPECT_EQ(run(fixed, warp), run(dynamic, warp)) << "warp " << warp;
  }
}

TEST(Gemm, ArrivalsPerTileAreThoseOfTheTable) {
  const auto load = run(Gemm::StaticExtents{}, 5);
  EXPECT_EQ(count(load, "one: arrive.expect_tx"), 3);  // one per k step
  EXPECT_EQ(count(load, "load"), 6);
  const auto mma = run(Gemm::StaticExtents{}, 4);
  EXPECT_EQ(count(mma, "commit"), 3 + 1);  // one per k step, one per tile
  const auto epilogue = run(Gemm::StaticExtents{}, 1);
  EXPECT_EQ(count(epilogue, "arrive"), 1 + 1);  // accum.empty, tmem.done: every lane, once
}

TEST(Gemm, OneCtaComputesAllTilesWhenItIsAlone) {
  EXPECT_EQ(count(run(Gemm::StaticExtents{}, 5, 1), "load"), 4 * 6);
}

TEST(Gemm, EveryBoxWidthIsWholeFragments) {
  for (std::uint32_t n = 16; n <= 256; n += 16) {
    const auto epilogue = run(GemmExtents<>{128, n, 64, 2, 1}, 0);
    EXPECT_EQ(count(epilogue, "ld 16"), n / 16) << "tile_n " << n;
    EXPECT_EQ(count(epilogue, "store"), n / box_columns<bf16>(n)) << "tile_n " << n;
  }
}

}  // namespace
}  // namespace warptwin::scenarios::gemm_test
