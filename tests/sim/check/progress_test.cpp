/// What a deadlock report says of those who owe a phase.

#include <algorithm>
#include <string>
#include <vector>

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
Finding deadlock_of(std::uint32_t stuck) {
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
      return finding;
    }
  }
  return {};
}

std::string owed_in(std::uint32_t stuck) {
  for (const std::string& line : lines_of(deadlock_of(stuck))) {
    if (line.starts_with("owed")) {
      return line;
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

TEST(ProgressTest, WhoWaitsForWhomIsToldInParts) {
  const Finding finding = deadlock_of(2);
  ASSERT_FALSE(finding.details.empty());
  std::vector<Blocked> blocked;
  for (const Detail& detail : finding.details) {
    if (const auto* one = detail.as<Blocked>()) {
      blocked.push_back(*one);
    }
  }
  // The producer and the consumer of CTA 2; all others stand at the cluster's barrier.
  const auto consumer = std::find_if(blocked.begin(), blocked.end(), [](const Blocked& one) {
    return one.agent.cta == 2 && one.agent.role == Role::kConsumer;
  });
  ASSERT_NE(consumer, blocked.end());
  EXPECT_EQ(consumer->agent.warps, std::vector<std::uint32_t>{1});
  EXPECT_EQ(consumer->wait.kind, WaitKind::kMbarrier);
  EXPECT_EQ(text_of(consumer->wait.object), "ring.full of cta 2");
  EXPECT_EQ(consumer->wait.object.address, kFull.address.value);
  ASSERT_TRUE(consumer->wait.barrier.has_value());
  EXPECT_EQ(consumer->wait.barrier->phase, 0);
  EXPECT_EQ(consumer->wait.barrier->pending, 1U);
  ASSERT_EQ(consumer->owed.size(), 1U);
  ASSERT_TRUE(consumer->owed[0].by.has_value());
  EXPECT_EQ(consumer->owed[0].role, Role::kProducer);
  EXPECT_EQ(consumer->owed[0].by->agent.cta, 2U);
  EXPECT_EQ(consumer->owed[0].by->wait.object.address, kOther.address.value);
  ASSERT_TRUE(consumer->last.has_value());
  EXPECT_EQ(consumer->last->op, Op::kMbarrierInit);
  const auto elsewhere = std::find_if(blocked.begin(), blocked.end(), [](const Blocked& one) {
    return one.wait.kind == WaitKind::kClusterBarrier;
  });
  ASSERT_NE(elsewhere, blocked.end());
  EXPECT_EQ(elsewhere->wait.have, 6U);
}

}  // namespace
}  // namespace warptwin::sim::progress_test
