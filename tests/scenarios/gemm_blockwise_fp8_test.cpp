#include "scenarios/gemm_blockwise_fp8.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/kernel/dispatch.hpp"

#include "tests/support/recording_machine.hpp"

namespace warptwin::scenarios::gemm_blockwise_fp8_test {
namespace {

using ::testing::Contains;
using ::testing::EndsWith;
using tests::RecordingMachine;

constexpr std::uint32_t kMma = 4;
constexpr std::uint32_t kLoad = 5;

/// One warp of one CTA, over a matrix of 2 x 2 tiles of a CTA and three k steps.
template <class Extents>
std::vector<std::string> run(const Extents& extents, std::uint32_t rank, std::uint32_t warp) {
  using Kernel = GemmBlockwiseFp8::Kernel<RecordingMachine, Extents>;
  RecordingMachine machine;
  machine.warp = warp;
  machine.rank = rank;
  machine.ctas = extents.cluster().ctas();
  const TileWalk walk{TileGrid{2, 2}, extents.cluster()};
  const typename Kernel::Problem problem{1, 2, 3, 4, extents, walk, 3, {{}, 16, 1}};
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

constexpr GemmBlockwiseFp8Extents<> kPair{{256, 64, 128, 4, 2}, 2, 2, 1};

TEST(GemmBlockwiseFp8, StaticAndDynamicExtentsGiveTheSameOperations) {
  const GemmBlockwiseFp8Extents<> dynamic{{128, 64, 128, 4, 2}, 1, 1, 1};
  for (std::uint32_t warp = 0; warp < 6; ++warp) {
    EXPECT_EQ(run(GemmBlockwiseFp8::StaticExtents{}, 0, warp), run(dynamic, 0, warp)) << warp;
  }
}

TEST(GemmBlockwiseFp8, AStageIsArmedWithItsFactorsToo) {
  const auto load = run(GemmBlockwiseFp8::StaticExtents{}, 0, kLoad);
  EXPECT_EQ(count(load, "load"), 4 * 3 * 3);  // A, B and factors of each k step of four tiles
  EXPECT_THAT(load, Contains(EndsWith(" " + std::to_string(128 * 128 + 64 * 128 + 128 * 4))));
}

TEST(GemmBlockwiseFp8, EachKStepHasItsAccumulator) {
  const auto mma = run(GemmBlockwiseFp8::StaticExtents{}, 0, kMma);
  EXPECT_EQ(count(mma, "mma"), 4 * 3 * 4);     // four instructions to a k step
  EXPECT_EQ(count(mma, "commit"), 4 * 3 * 2);  // of the input stage, and of the accumulator
}

TEST(GemmBlockwiseFp8, AnEpilogueWarpArrivesOnceOnInputAndWithEveryLaneOnAccum) {
  const auto epilogue = run(GemmBlockwiseFp8::StaticExtents{}, 0, 1);
  EXPECT_EQ(count(epilogue, "one: arrive"), 4 * 3);
  EXPECT_EQ(count(epilogue, "arrive"), 4 * 3 + 1);               // and tmem.done
  EXPECT_EQ(count(epilogue, "fence.proxy.async"), 4 * (3 + 1));  // a k step's, and the store's
}

TEST(GemmBlockwiseFp8, InAPairTheScalesAreEachCtasOwnAndTheAccumulatorTheLeaders) {
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    const auto load = run(kPair, rank, kLoad);
    EXPECT_EQ(count(load, "load"), 2 * 3 * 3);
    EXPECT_EQ(count(load, "one: arrive.expect_tx"), rank == 0 ? 2 * 3 : 0);
    const auto epilogue = run(kPair, rank, 1);
    EXPECT_EQ(count(epilogue, "one: arrive"), 2 * 3);  // on the own CTA's input.empty
    EXPECT_EQ(count(epilogue, "arrive cta 0"), 2 * 3 + rank);
  }
  EXPECT_EQ(count(run(kPair, 1, kMma), "commit"), 0);
}

}  // namespace
}  // namespace warptwin::scenarios::gemm_blockwise_fp8_test
