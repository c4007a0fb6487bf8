/// What is visible to whom: vector clocks over the warps of a cluster, along the edges of the
/// memory order. Detectors ask it; it reports nothing.
///
/// Of N warps, component w counts the operations of warp w; N + w its MMAs that are known to be
/// complete; 2N + w its operations that a fence.proxy.async covers. 3N + w its tcgen05
/// operations that a tcgen05.fence::before_thread_sync covers. From 4N on each mbarrier has
/// one: its phases that were waited for, and with them the bytes that copies delivered in them.
///
/// Edges: program order; named and cluster barriers; an mbarrier's releasing arrivals to the
/// acquiring waits that observe their phase; a tcgen05.commit to the same, for its warp's MMAs
/// only. A copy publishes its own bytes and no one's past. A relaxed arrival publishes what a
/// releasing fence of its warp covered, a relaxed wait acquires at the next acquiring fence.

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
  /// The same, with a fence.proxy.async that covers the first operation on the way.
  bool fenced(std::uint32_t first, std::uint32_t time, std::uint32_t second);
  /// The same for tcgen05: a before-fence of `first` after its operation, and an after-fence of
  /// `second` that knows of it.
  bool tensor_fenced(std::uint32_t first, std::uint32_t time, std::uint32_t second);
  /// MMAs of `issuer` that `observer` knew to be complete at its last after-fence.
  std::uint32_t fenced_mmas(std::uint32_t issuer, std::uint32_t observer);
  /// Whether `observer` knows that phase `phase` of an mbarrier is complete.
  bool phase_seen(std::uint32_t cta,
                  std::uint32_t address,
                  std::uint32_t phase,
                  std::uint32_t observer);
  /// Where `second` last observed a relaxed arrival of `first`, or waited for one relaxed, with no
  /// fence that makes it an edge; no line: never.
  SourceSite relaxed_edge(std::uint32_t first, std::uint32_t second);
  /// MMAs of `issuer` that `observer` knows to be complete, and that it has issued.
  std::uint32_t completed_mmas(std::uint32_t issuer, std::uint32_t observer);
  std::uint32_t issued_mmas(std::uint32_t issuer);

 private:
  struct BarrierClock {
    std::uint32_t phase = 0;
    std::uint32_t component = 0;
    Clock current;                       // joined releases of `phase`
    Clock completed;                     // of the phase before
    std::vector<std::uint32_t> relaxed;  // warps that arrived relaxed, in the last phases
    SourceSite relaxed_site{};
  };
  /// What an arrival on its way will release, and at how many barriers.
  struct InFlight {
    Clock clock;
    std::uint32_t targets = 1;
  };
  struct ClusterOrder {
    std::vector<Clock> warps;
    std::vector<Clock> released;  // by a releasing fence, by warp
    std::vector<Clock> pending;   // by relaxed waits, until an acquiring fence
    std::vector<Clock> after;     // what each warp knew at its last tcgen05 after-fence
    std::map<std::pair<std::uint32_t, std::uint32_t>, SourceSite> relaxed;  // (first, second)
    std::vector<std::uint32_t> issued;                                      // MMAs, by warp
    std::unordered_map<std::uint64_t, BarrierClock> barriers;               // by CTA and address
    std::unordered_map<std::uint32_t, std::map<std::uint32_t, Clock>>
        named;                                       // by CTA and id, generation
    std::map<std::uint32_t, Clock> cluster_barrier;  // by generation
    std::unordered_map<std::uint32_t, InFlight>
        in_flight;  // remote arrivals and commits, by serial
    std::uint32_t exited_ctas = 0;
  };

  ClusterOrder* cluster_of(std::uint32_t warp);
  BarrierClock& barrier_of(ClusterOrder& cluster, std::uint32_t cta, std::uint32_t address);
  void release(ClusterOrder& cluster, const Event& event, const Clock& clock);
  void observe(ClusterOrder& cluster, const Event& event, std::uint32_t self);
  void fence(ClusterOrder& cluster, const Event& event, std::uint32_t self);
  void deliver(ClusterOrder& cluster, const Event& event);

  const LaunchConfig& config_;
  std::uint32_t warps_;  // of a cluster
  std::vector<std::unique_ptr<ClusterOrder>> clusters_;
};

}  // namespace warptwin::sim
