#include "scenarios/gemm_persistent.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/kernel/dispatch.hpp"

#include "tests/support/recording_machine.hpp"

namespace warptwin::scenarios::gemm_persistent_test {
namespace {

using ::testing::StartsWith;
using tests::RecordingMachine;

constexpr std::uint32_t kScheduler = 4;
constexpr std::uint32_t kLoad = 5;
constexpr std::uint32_t kMma = 6;

/// One warp of one CTA, with its cluster's own tile of 2 x 2 and three k steps: the recording
/// machine says of every request that it failed.
template <class Extents>
std::vector<std::string> run(const Extents& extents, std::uint32_t rank, std::uint32_t warp) {
  using Kernel = GemmPersistent::Kernel<RecordingMachine, Extents>;
  RecordingMachine machine;
  machine.warp = warp;
  machine.rank = rank;
  machine.ctas = extents.cluster().ctas();
  const TileWalk walk{TileGrid{2, 2}, extents.cluster()};
  const typename Kernel::Problem problem{{1, 2, 3, extents, walk, 3}};
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

TEST(GemmPersistent, StaticAndDynamicExtentsGiveTheSameOperations) {
  const GemmPersistent::StaticExtents fixed;
  const GemmPersistentExtents<> dynamic{{{256, 256, 64, 6, 2}, 2, 1}, 2};
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    for (std::uint32_t warp = 0; warp < 7; ++warp) {
      EXPECT_EQ(run(fixed, rank, warp), run(dynamic, rank, warp)) << rank << ", warp " << warp;
    }
  }
}

TEST(GemmPersistent, OneSchedulerAsksForTheCluster) {
  const auto asks = run(GemmPersistent::StaticExtents{}, 0, kScheduler);
  const auto idle = run(GemmPersistent::StaticExtents{}, 1, kScheduler);
  EXPECT_EQ(count(asks, "try_cancel.multicast"), 1);  // for its one tile
  EXPECT_EQ(count(asks, "arrive.expect_tx cta"), 2);
  EXPECT_EQ(count(idle, "try_cancel"), 0);
  EXPECT_THAT(idle.back(), StartsWith("cluster.wait"));  // it does not leave early
}

TEST(GemmPersistent, EveryWarpThatWorksOnTilesReadsTheResponse) {
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    for (const std::uint32_t warp : {0U, 3U, kLoad, kMma}) {
      const auto lines = run(GemmPersistent::StaticExtents{}, rank, warp);
      EXPECT_EQ(count(lines, "is_canceled"), 1) << rank << ", warp " << warp;
      EXPECT_EQ(count(lines, "first_cta"), 0);
    }
  }
}

TEST(GemmPersistent, WithoutResponsesNobodyAsksOrReads) {
  const GemmPersistentExtents<> alone{{{256, 256, 64, 6, 2}, 2, 1}, 0};
  for (std::uint32_t warp = 0; warp < 7; ++warp) {
    const auto lines = run(alone, 0, warp);
    EXPECT_EQ(count(lines, "try_cancel") + count(lines, "is_canceled"), 0) << warp;
  }
}

}  // namespace
}  // namespace warptwin::scenarios::gemm_persistent_test
