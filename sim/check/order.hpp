/// What is ordered before what: vector clocks over the warps of a cluster and their tensor queues,
/// along
/// the happens-before edges of barriers. Detectors ask it; it reports nothing.
///
/// Component w counts the operations of warp w; component N + w the MMAs of warp w that are known
/// to be
/// complete. Edges: program order; named and cluster barriers; an mbarrier's arrivals to the waits
/// that
/// observe their phase; a tcgen05.commit to the same, for its warp's MMAs only. A copy publishes
/// its
/// own bytes and no one's past, so it is no edge here.

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "common/trace/event.hpp"

#include "sim/model/gpu.hpp"

namespace warptwin::sim {

using Clock = std::vector<std::uint32_t>;

class Order {
 public:
  explicit Order(const LaunchConfig& config);
  void on_event(const Event& event);

  /// The operation count of a warp: names its latest operation.
  std::uint32_t now(std::uint32_t warp);
  /// Whether operation `time` of `first` is ordered before the latest operation of `second`. Both
  /// warps
  /// are numbered in the grid; of different clusters, no.
  bool ordered(std::uint32_t first, std::uint32_t time, std::uint32_t second);
  /// MMAs of `issuer` that `observer` knows to be complete, and that it has issued.
  std::uint32_t completed_mmas(std::uint32_t issuer, std::uint32_t observer);
  std::uint32_t issued_mmas(std::uint32_t issuer);

 private:
  struct BarrierClock {
    std::uint32_t phase = 0;
    Clock current;    // joined releases of `phase`
    Clock completed;  // of the phase before
  };
  /// What an arrival on its way will release, and at how many barriers.
  struct InFlight {
    Clock clock;
    std::uint32_t targets = 1;
  };
  struct ClusterOrder {
    std::vector<Clock> warps;
    std::vector<std::uint32_t> issued;                         // MMAs, by warp
    std::unordered_map<std::uint64_t, BarrierClock> barriers;  // by CTA and address
    std::unordered_map<std::uint32_t, std::map<std::uint32_t, Clock>>
        named;                                       // by CTA and id, generation
    std::map<std::uint32_t, Clock> cluster_barrier;  // by generation
    std::unordered_map<std::uint32_t, InFlight>
        in_flight;  // remote arrivals and commits, by serial
    std::uint32_t exited_ctas = 0;
  };

  ClusterOrder* cluster_of(std::uint32_t warp);
  void release(ClusterOrder& cluster, const Event& event, const Clock& clock);
  void deliver(ClusterOrder& cluster, const Event& event);

  const LaunchConfig& config_;
  std::uint32_t warps_;  // of a cluster
  std::vector<std::unique_ptr<ClusterOrder>> clusters_;
};

}  // namespace warptwin::sim
