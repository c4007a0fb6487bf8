// Clusters of two sizes in one launch: some preferred clusters' CTAs are in smaller ones.

#include <map>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "common/sync/cluster_shape.hpp"

#include "sim/run/extract.hpp"
#include "sim/run/proof/prove.hpp"
#include "sim/run/simulate.hpp"
#include "sim/trace/recorder.hpp"
#include "tests/support/small_kernel.hpp"

namespace warptwin::sim::cluster_sizes_test {
namespace {

using tests::SmallKernel;

constexpr std::uint32_t kPreferred = 4;

// Three places of four CTAs; in that of `fallen` two clusters of `size` CTAs each, or four.
ScenarioEntry with_fallback(const SmallKernel& kernel,
                            std::uint32_t size,
                            std::vector<bool> fallen = {false, true, false}) {
  SmallKernel of = kernel;
  of.cluster_size = kPreferred;
  of.clusters = 3;
  ScenarioEntry entry = tests::entry_of(of);
  entry.workload = [before = entry.workload, size, fallen](const ParameterSet& p) {
    Workload workload = before(p);
    workload.fallback_size = size;
    workload.falls_back = fallen;
    return workload;
  };
  return entry;
}

RunResult run(const ScenarioEntry& entry) {
  RunOptions options;
  options.moves_data = false;
  return simulate(entry, ParameterSet{{}}, options);
}

std::set<std::string> ids(const RunResult& result) {
  std::set<std::string> all;
  for (const Finding& finding : result.findings) {
    all.insert(finding.info->id);
  }
  return all;
}

struct Seen {
  std::uint32_t rank, size, index, count;
  friend bool operator==(const Seen&, const Seen&) = default;
};

// "Each type of cluster will have its enumeration as if the grid consists solely of its type" (CUDA
// runtime, cudaLaunchAttributePreferredClusterDimension).
TEST(ClusterSizes, ACtaSeesItsOwnClusterAndClustersOfThatSize) {
  std::map<std::uint32_t, Seen> seen;  // by CTA of the grid
  SmallKernel kernel;
  kernel.roles = {{Role::kProducer, 1}};
  kernel.body = [&](SimMachine& m, const ParameterSet&, GlobalAddress) {
    const std::uint32_t cta = m.cluster_index() * m.cluster_size() + m.cta_rank();
    seen[cta] = {m.cta_rank(), m.cluster_size(), m.cluster_index(), m.cluster_count()};
  };
  EXPECT_TRUE(run(with_fallback(kernel, 2)).clean(true));
  ASSERT_EQ(seen.size(), 12U);
  EXPECT_EQ(seen[3], (Seen{3, 4, 0, 3}));
  EXPECT_EQ(seen[4], (Seen{0, 2, 2, 6}));
  EXPECT_EQ(seen[7], (Seen{1, 2, 3, 6}));
  EXPECT_EQ(seen[8], (Seen{0, 4, 2, 3}));
}

// In each cluster the first CTA arrives on an mbarrier of the CTA `rank`, which waits for it.
SmallKernel arrival_at_rank(std::uint32_t rank) {
  constexpr Mbarrier kFull{{2048}};
  SmallKernel kernel;
  kernel.roles = {{Role::kProducer, 1}};
  kernel.body = [rank, kFull](SimMachine& m, const ParameterSet&, GlobalAddress) {
    m.elect_one([&] {
      m.mbarrier_init(kFull, 1);
      m.fence_mbarrier_init();
    });
    m.sync_warp();
    m.barrier_cluster_arrive(kReleaseCluster);
    m.barrier_cluster_wait();
    if (m.cta_rank() == 0) {
      m.elect_one([&] { m.mbarrier_arrive(m.mapa(kFull, rank)); });
    }
    if (m.cta_rank() == rank) {
      m.mbarrier_wait_parity(kFull, WaitPhase::number(0), kAcquireCluster);
    }
    m.sync_warp();
    m.barrier_cluster_arrive(kReleaseCluster);
    m.barrier_cluster_wait();
  };
  return kernel;
}

TEST(ClusterSizes, RanksAreThoseOfTheOwnCluster) {
  EXPECT_EQ(ids(run(with_fallback(arrival_at_rank(1), 2))), std::set<std::string>{});
  // A cluster of two has no rank 2.
  EXPECT_TRUE(ids(run(with_fallback(arrival_at_rank(2), 2))).contains("MAPA_RANK_OOB"));
  EXPECT_EQ(ids(run(with_fallback(arrival_at_rank(2), 2, {}))), std::set<std::string>{});
}

TEST(ClusterSizes, EitherSizeIsProvedInItsPlace) {
  const auto verdict = [](std::uint32_t rank, std::vector<bool> fallen) {
    return prove(with_fallback(arrival_at_rank(rank), 2, std::move(fallen)), ParameterSet{{}}, {})
        .verdict;
  };
  EXPECT_EQ(verdict(1, {}), ProofVerdict::kProved);
  EXPECT_EQ(verdict(1, {true, false, true}), ProofVerdict::kProved);
  EXPECT_EQ(verdict(2, {}), ProofVerdict::kProved);
  EXPECT_EQ(verdict(2, {false, false, true}), ProofVerdict::kRefuted);
}

// Of two clusters in the place of a preferred one the second is held up for good; the first passes
// its barrier.
TEST(ClusterSizes, ClustersInOnePlaceDoNotMeetAtTheBarrier) {
  std::vector<std::uint32_t> passed;
  SmallKernel kernel;
  kernel.roles = {{Role::kProducer, 1}};
  kernel.body = [&](SimMachine& m, const ParameterSet&, GlobalAddress) {
    const bool second = m.cluster_size() == 2 && m.cluster_index() % 2 == 1;
    m.elect_one([&] { m.mbarrier_init(Mbarrier{{2048}}, 1); });
    m.sync_warp();
    m.barrier_cluster_arrive(kReleaseCluster);
    if (second) {
      m.mbarrier_wait_parity(Mbarrier{{2048}}, WaitPhase::number(0));  // for good
    }
    m.barrier_cluster_wait();
    passed.push_back(m.cluster_index() * m.cluster_size() + m.cta_rank());
  };
  run(with_fallback(kernel, 2));
  EXPECT_EQ(std::set<std::uint32_t>(passed.begin(), passed.end()),
            (std::set<std::uint32_t>{0, 1, 2, 3, 4, 5, 8, 9, 10, 11}));
}

// A word of global memory that one cluster sets and another waits for: not decided.
TEST(ClusterSizes, ClustersThatMeetInMemoryAreNotDecided) {
  SmallKernel kernel;
  kernel.roles = {{Role::kProducer, 1}};
  kernel.body = [](SimMachine& m, const ParameterSet&, GlobalAddress words) {
    const bool first = m.cluster_index() == 0 && m.cta_rank() == 0;
    m.elect_one([&] {
      if (first) {
        m.st_release_global_u32(words, 1);
      } else {
        m.wait_global_u32(words, 1);
      }
    });
    m.sync_warp();
  };
  EXPECT_EQ(prove(with_fallback(kernel, 2), ParameterSet{{}}, {}).verdict,
            ProofVerdict::kUndecided);
}

// What has one size for all clusters says so.
TEST(ClusterSizes, WhatTakesOneSizeRefusesTwo) {
  SmallKernel kernel;
  kernel.roles = {{Role::kProducer, 1}};
  kernel.body = [](SimMachine& m, const ParameterSet&, GlobalAddress) {
    m.clc_try_cancel({4096}, Mbarrier{{2048}}, false);
  };
  const ScenarioEntry entry = with_fallback(kernel, 2);
  EXPECT_THROW(run(entry), ConfigError);
  EXPECT_THROW(run(with_fallback(kernel, 2, {})), ConfigError);
  EXPECT_THROW(extract(entry, ParameterSet{{}}), ConfigError);
  const Symbols symbols = entry.symbols(ParameterSet{{}});
  EXPECT_THROW(trace_of_launch(launch_config(entry, ParameterSet{{}}, {}), symbols), ConfigError);
}

TEST(ClusterChoice, OfACtaIsByTheSizeOfItsCluster) {
  constexpr ClusterChoice kShapes{{4, 2}, {2, 1}};
  EXPECT_EQ(kShapes.of(8).m, 4U);
  EXPECT_EQ(kShapes.of(2).m, 2U);
  EXPECT_EQ(kShapes.of(2).n, 1U);
  EXPECT_EQ(kShapes.in_place(8), 1U);
  EXPECT_EQ(kShapes.in_place(2), 4U);
}

}  // namespace
}  // namespace warptwin::sim::cluster_sizes_test
