#include "common/sync/cluster_shape.hpp"

#include <cstdint>

#include <gtest/gtest.h>

namespace warptwin::cluster_shape_test {
namespace {

struct Worked {
  ClusterShape cluster;
  std::uint32_t input_empty;
  std::uint32_t clc_empty;
  std::uint32_t clc_empty_with_epi_load;
};

// The worked values of the structured SM100 kernels: scheduler 32, load 32, MMA 32, epilogue 128
// lanes.
constexpr Worked kWorked[] = {
    {{1, 1, CtaGroup::kOne}, 1, 224, 256},
    {{2, 1, CtaGroup::kTwo}, 1, 416, 480},
    {{4, 1, CtaGroup::kTwo}, 2, 800, 928},
    {{4, 2, CtaGroup::kTwo}, 3, 1568, 1824},
    {{4, 4, CtaGroup::kTwo}, 5, 3104, 3616},
    {{8, 2, CtaGroup::kTwo}, 5, 3104, 3616},
    {{2, 4, CtaGroup::kTwo}, 4, 1568, 1824},
    {{2, 2, CtaGroup::kOne}, 3, 800, 928},
};

TEST(ClusterShape, ArrivalCountsAreTheWorkedValues) {
  for (const Worked& worked : kWorked) {
    SCOPED_TRACE(testing::Message() << worked.cluster.m << "x" << worked.cluster.n << " group "
                                    << worked.cluster.group_ctas());
    EXPECT_EQ(worked.cluster.input_empty_arrivals(), worked.input_empty);
    EXPECT_EQ(worked.cluster.clc_empty_arrivals(192), worked.clc_empty);
    EXPECT_EQ(worked.cluster.clc_empty_arrivals(224), worked.clc_empty_with_epi_load);
  }
}

TEST(ClusterShape, EveryStageIsFreedByAsManyCommitsAsItsBarrierCounts) {
  for (const Worked& worked : kWorked) {
    const ClusterShape& cluster = worked.cluster;
    for (std::uint32_t rank = 0; rank < cluster.ctas(); ++rank) {
      std::uint32_t commits = 0;
      for (std::uint32_t leader = 0; leader < cluster.ctas(); ++leader) {
        commits +=
            cluster.is_leader(leader) && cluster.input_empty_multicast(leader).contains(rank);
      }
      EXPECT_EQ(commits, cluster.input_empty_arrivals()) << "rank " << rank;
    }
  }
}

TEST(ClusterShape, SlicesOfASharedTileReachEveryReaderOnce) {
  for (const Worked& worked : kWorked) {
    const ClusterShape& cluster = worked.cluster;
    for (const Operand operand : {Operand::kA, Operand::kB}) {
      for (std::uint32_t reader = 0; reader < cluster.ctas(); ++reader) {
        std::uint32_t received = 0;  // a bit for each slice
        for (std::uint32_t sender = 0; sender < cluster.ctas(); ++sender) {
          const OperandSlice slice = cluster.slice(operand, sender);
          const CtaMask to = slice.multicast.bits == 0 ? CtaMask::of(sender) : slice.multicast;
          if (to.contains(reader)) {
            EXPECT_EQ(received & (1U << slice.index), 0U) << "a slice arrives twice";
            received |= 1U << slice.index;
          }
        }
        EXPECT_EQ(received, (1U << cluster.slice(operand, reader).count) - 1);
      }
    }
  }
}

TEST(ClusterShape, MasksOfAFourByTwoClusterOfPairs) {
  constexpr ClusterShape kCluster{4, 2, CtaGroup::kTwo};  // rank = x + 4 y
  EXPECT_EQ(kCluster.a_multicast(1).bits, 0b0010'0010);   // column x = 1
  EXPECT_EQ(kCluster.b_multicast(1).bits, 0b0000'1010);   // row y = 0, odd places
  EXPECT_EQ(kCluster.b_multicast(4).bits, 0b0101'0000);   // row y = 1, even places
  EXPECT_EQ(kCluster.pair(6).bits, 0b1100'0000);
  EXPECT_EQ(kCluster.input_empty_multicast(0).bits, 0b0011'1111);  // row 0, columns 0 and 1
  EXPECT_EQ(kCluster.leader(7), 6U);
  EXPECT_EQ(kCluster.peer(6), 7U);
  EXPECT_EQ(kCluster.place_in_group(6), 0U);
  EXPECT_EQ(kCluster.place_in_group(7), 1U);
}

TEST(ClusterShape, MasksOfEveryShapeAreThoseOfItsRowsAndColumns) {
  for (std::uint32_t m = 1; m <= 16; ++m) {
    for (std::uint32_t n = 1; m * n <= 16; ++n) {
      for (const CtaGroup group : {CtaGroup::kOne, CtaGroup::kTwo}) {
        if (m % ctas_in(group) != 0) {
          continue;
        }
        const ClusterShape cluster{m, n, group};
        for (std::uint32_t rank = 0; rank < m * n; ++rank) {
          for (std::uint32_t other = 0; other < m * n; ++other) {
            const bool same_m = other % m == rank % m;
            const bool same_n = other / m == rank / m;
            const bool same_place = other % ctas_in(group) == rank % ctas_in(group);
            const bool peers_column = other % m == cluster.peer(rank) % m;
            EXPECT_EQ(cluster.a_multicast(rank).contains(other), same_m) << m << "x" << n;
            EXPECT_EQ(cluster.b_multicast(rank).contains(other), same_n && same_place);
            EXPECT_EQ(cluster.input_empty_multicast(rank).contains(other),
                      same_m || same_n || peers_column);
            const ClusterShape own_a = cluster.with_own_a();
            EXPECT_EQ(own_a.input_empty_multicast(rank).contains(other), same_n);
            EXPECT_EQ(own_a.b_multicast(rank).bits, cluster.b_multicast(rank).bits);
          }
          EXPECT_EQ(cluster.with_own_a().slice(Operand::kA, rank).count, 1U);
          EXPECT_EQ(cluster.with_own_a().slice(Operand::kA, rank).multicast.bits, 0);
          const ClusterShape own_b = ClusterShape{m, n}.with_own_b();
          EXPECT_EQ(own_b.slice(Operand::kB, rank).count, 1U);
          EXPECT_EQ(own_b.slice(Operand::kA, rank).count, n);
          CtaMask told{};
          for (std::uint32_t i = 0; i < own_b.sharers(); ++i) {
            told = told | CtaMask::of(own_b.sharer(rank, i));
          }
          EXPECT_EQ(told.bits, cluster.a_multicast(rank).bits);
          EXPECT_EQ(own_b.input_empty_multicast(rank).bits, told.bits);
          EXPECT_EQ(cluster.sharer(rank, rank), rank);
        }
        EXPECT_EQ(cluster.with_own_a().input_empty_arrivals(), m / ctas_in(group));
        EXPECT_EQ(ClusterShape(m, n).with_own_b().input_empty_arrivals(), n);
        EXPECT_EQ(cluster.sharers(), m * n);
      }
    }
  }
}

TEST(ClusterShape, ASingleCtaNeedsNoMulticast) {
  constexpr ClusterShape kCluster{};
  EXPECT_EQ(kCluster.slice(Operand::kA, 0).multicast.bits, 0);
  EXPECT_EQ(kCluster.slice(Operand::kB, 0).multicast.bits, 0);
  EXPECT_TRUE(kCluster.is_leader(0));
  EXPECT_EQ(kCluster.peer(0), 0U);
  EXPECT_EQ(kCluster.place_in_group(0), 0U);
}

}  // namespace
}  // namespace warptwin::cluster_shape_test
