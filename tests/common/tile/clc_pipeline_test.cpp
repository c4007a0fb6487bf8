#include "common/tile/clc_pipeline.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "common/kernel/work_iterator.hpp"
#include "common/machine/shared_layout.hpp"

#include "tests/support/recording_machine.hpp"

namespace warptwin::clc_pipeline_test {
namespace {

using tests::RecordingMachine;
using Lines = std::vector<std::string>;
using Storage = ClcPipelineStorage<Role::kLoad, Role::kMma, Role::kEpilogue>;
using Clc = PipelineOf<RecordingMachine, Storage>;

constexpr RoleTable kRoles{RoleWarps{Role::kEpilogue, 4},
                           RoleWarps{Role::kScheduler, 1},
                           RoleWarps{Role::kLoad, 1},
                           RoleWarps{Role::kMma, 1}};
constexpr ClusterShape kPair{2, 1, CtaGroup::kTwo};

// Two stages: responses 0 and 16, full 32 and 40, empty 48 and 56, throttle 64 to 88.
Storage two_stages() {
  SharedLayout layout{SharedAddress{0}};
  return {layout, "clc", kRoles, kPair, 2};
}

TEST(ClcPipeline, CountsAreTheWorkedValuesOfTheClusters) {
  for (const ClusterShape cluster : {ClusterShape{1, 1, CtaGroup::kOne},
                                     ClusterShape{2, 1, CtaGroup::kTwo},
                                     ClusterShape{4, 2, CtaGroup::kTwo}}) {
    SharedLayout layout{SharedAddress{0}};
    const Storage storage{layout, "clc", kRoles, cluster, 2};
    EXPECT_EQ(storage.barriers.full_arrivals, 1U);
    EXPECT_EQ(storage.barriers.empty_arrivals, cluster.clc_empty_arrivals(192));
    EXPECT_EQ(storage.throttle.barriers.full_arrivals, 32U);
    EXPECT_EQ(storage.throttle.barriers.empty_arrivals, 32U);
  }
}

TEST(ClcPipeline, ARequestArmsEveryCtaAndIsMadeOnce) {
  const Storage storage = two_stages();
  RecordingMachine machine;
  machine.ctas = 2;
  Clc clc{machine, storage};
  clc.request();
  EXPECT_EQ(machine.take(),
            (Lines{"wait.cluster 48 phase -1",
                   "sync_warp",
                   "arrive.expect_tx cta 0 32 16",
                   "arrive.expect_tx cta 1 32 16",
                   "try_cancel.multicast 32"}));
  clc.request();
  clc.request();
  EXPECT_EQ(machine.take()[5], "wait.cluster 48 phase 0");  // of the third: the slot comes again
}

TEST(ClcPipeline, AFetchFencesItsReadsBeforeItFreesTheSlotInCta0) {
  const Storage storage = two_stages();
  RecordingMachine machine;
  machine.ctas = 2;
  machine.rank = 1;
  Clc clc{machine, storage};
  const WorkResponse response = clc.fetch();
  EXPECT_FALSE(response.canceled);  // what the recording machine says
  EXPECT_EQ(machine.take(),
            (Lines{"wait.cluster 32 phase 0",
                   "sync_warp",
                   "is_canceled",
                   "fence.proxy.async",
                   "arrive cta 0 48 1"}));
}

TEST(ClcPipeline, TheThrottleIsARingOfTheLoadWarpAndTheScheduler) {
  const Storage storage = two_stages();
  RecordingMachine machine;
  Clc load{machine, storage};
  load.signal_throttle();
  EXPECT_EQ(machine.take(), (Lines{"wait 80 phase -1", "sync_warp", "arrive 64 1"}));
  Clc scheduler{machine, storage};
  scheduler.wait_throttle();
  EXPECT_EQ(machine.take(), (Lines{"wait 64 phase 0", "sync_warp", "arrive 80 1"}));
}

TEST(ClcPipeline, ADrainWaitsForEverySlot) {
  const Storage storage = two_stages();
  RecordingMachine machine;
  Clc clc{machine, storage};
  clc.request();
  machine.take();
  clc.drain();  // an untouched slot passes at once, by its phase -1
  EXPECT_EQ(
      machine.take(),
      (Lines{"wait.cluster 56 phase -1", "sync_warp", "wait.cluster 48 phase 0", "sync_warp"}));
}

TEST(WorkIterator, FetchesBehindTheBodyAndEndsAtTheFailingResponse) {
  const Storage storage = two_stages();
  RecordingMachine machine;
  machine.ctas = 2;
  machine.cluster = 1;
  Clc clc{machine, storage};
  const ClusterTiles tiles{{TileGrid{2, 2}, kPair}, 0};
  std::vector<Tile> seen;
  for (const Tile tile : WorkIterator<Clc>{tiles, machine, clc}) {
    EXPECT_TRUE(machine.take().empty());  // nothing is fetched before the first tile's work
    seen.push_back(tile);
  }
  EXPECT_EQ(seen, (std::vector<Tile>{{0, 1}}));  // the cluster's own
  EXPECT_FALSE(machine.take().empty());          // one response, which failed
}

TEST(WorkIterator, WithoutStagesThereIsOneTileAndNothingIsAsked) {
  SharedLayout layout{SharedAddress{0}};
  const Storage storage{layout, "clc", kRoles, kPair, 0};
  EXPECT_EQ(layout.bytes(), 0U);
  RecordingMachine machine;
  Clc clc{machine, storage};
  EXPECT_FALSE(clc.asks());
  int bodies = 0;
  for ([[maybe_unused]] const Tile tile :
       WorkIterator<Clc>{ClusterTiles{{TileGrid{2, 1}, kPair}, 0}, machine, clc}) {
    ++bodies;
  }
  EXPECT_EQ(bodies, 1);
  EXPECT_TRUE(machine.take().empty());
}

}  // namespace
}  // namespace warptwin::clc_pipeline_test
