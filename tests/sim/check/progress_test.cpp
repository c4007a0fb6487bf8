/// What a deadlock report says of those who owe a phase.

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/check/detectors/detectors.hpp"
#include "sim/run/simulate.hpp"
#include "tests/support/small_kernel.hpp"

namespace warptwin::sim::progress_test {
namespace {

using ::testing::HasSubstr;
using tests::SmallKernel;

constexpr Mbarrier kFull{{2048}};
constexpr Mbarrier kOther{{2056}};

// In each CTA of two pairs a consumer waits for its producer; in the CTAs of `stuck` the producer
// waits for something else, in the others it has arrived and waits for the consumers of all.
std::string owed_in(std::uint32_t stuck) {
  SmallKernel kernel;
  kernel.roles = {{Role::kProducer, 1}, {Role::kConsumer, 1}};
  kernel.cluster_size = 4;
  Region full{RegionKind::kBarriers, "ring", "full", kFull.address.value, 1, 8, {}};
  full.contract.contributors[0] = {Role::kProducer, ArrivalKind::kElectedLane, 1};
  kernel.regions = {full};
  kernel.body = [stuck](SimMachine& m, const ParameterSet&, GlobalAddress) {
    if (m.warp_index() == 0) {
      m.elect_one([&] {
        m.mbarrier_init(kFull, 1);
        m.mbarrier_init(kOther, 1);
        m.fence_mbarrier_init();
      });
      m.sync_warp();
    }
    m.cta_sync();
    if (m.warp_index() == 1) {
      m.mbarrier_wait_parity(kFull, WaitPhase::number(0));
      m.sync_warp();
    } else if (m.cta_rank() == stuck) {
      m.mbarrier_wait_parity(kOther, WaitPhase::number(0));
      m.sync_warp();
    } else {
      m.elect_one([&] { m.mbarrier_arrive(kFull); });
    }
    m.barrier_cluster_arrive(kReleaseCluster);
    m.barrier_cluster_wait();
  };
  RunOptions run;
  run.moves_data = false;
  const RunResult result = simulate(tests::entry_of(kernel), ParameterSet{{}}, run);
  for (const Finding& finding : result.findings) {
    if (std::string{finding.info->id} == "DEADLOCK") {
      for (const std::string& line : finding.details) {
        if (line.starts_with("owed")) {
          return line;
        }
      }
    }
  }
  return "no deadlock";
}

TEST(ProgressTest, AnArrivalIsOwedByTheWarpOfTheOwnCta) {
  for (const std::uint32_t stuck : {0U, 2U, 3U}) {
    EXPECT_THAT(owed_in(stuck),
                HasSubstr("cta " + std::to_string(stuck) + " warp 0 (producer), which waits for"));
  }
  EXPECT_EQ(owed_in(9), "no deadlock");
}

}  // namespace
}  // namespace warptwin::sim::progress_test
