// Micro-programs about named and cluster barriers.

#include "sim/micro/building.hpp"

namespace warptwin::sim::micro {

void add_groups(List& list) {
  list.add(
      "NAMED_BARRIER_ID", 1, [](M& m) { m.bar_sync(16, 32); }, [](M& m) { m.bar_sync(15, 32); });
  list.add(
      "NAMED_BARRIER_COUNT", 1, [](M& m) { m.bar_sync(1, 33); }, [](M& m) { m.bar_sync(1, 32); });
  list.add(
      "NAMED_BARRIER_COUNT_MISMATCH",
      2,
      [](M& m) { m.bar_arrive(1, m.warp_index() == 0 ? 64 : 32); },
      [](M& m) { m.bar_arrive(1, 64); },
      "starve:1");
  list.add(
      "NAMED_BARRIER_DOUBLE_ARRIVE",
      2,
      [](M& m) {
        if (m.warp_index() == 0) {
          m.bar_arrive(1, 64);
          m.bar_arrive(1, 64);
        }
      },
      [](M& m) { m.bar_arrive(1, 64); });
  list.add(
      "CLUSTER_BARRIER_DOUBLE_ARRIVE",
      2,
      [](M& m) {
        m.barrier_cluster_arrive();
        if (m.warp_index() == 0) {
          m.barrier_cluster_arrive();
        }
      },
      [](M& m) {
        m.barrier_cluster_arrive();
        m.barrier_cluster_wait();
      },
      "starve:1");
  list.add(
      "CLUSTER_BARRIER_WAIT_NO_ARRIVE",
      1,
      [](M& m) { m.barrier_cluster_wait(); },
      [](M& m) {
        m.barrier_cluster_arrive();
        m.barrier_cluster_wait();
      });
}

}  // namespace warptwin::sim::micro
