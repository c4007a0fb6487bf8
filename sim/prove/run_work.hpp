/// What the warps of a run did, as numbers: the same in every run of a kernel whose operations do
/// not depend on the interleaving.

#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "common/trace/event.hpp"

#include "sim/model/divisor.hpp"
#include "sim/model/gpu.hpp"
#include "sim/prove/hash.hpp"

namespace warptwin::sim {

class RunWork {
 public:
  explicit RunWork(const LaunchConfig& config)
      : warps_{config.cluster_size * config.warps_per_cta}, ctas_{config.cluster_size} {}

  void on_event(const Event& event);

  /// What all warps did, and where. A try, and the wait for the phase that it asked for, are one
  /// operation: the wait is made where the try said no.
  std::uint64_t of_grid() const;
  /// Of a run of the same work: whether each try here said yes, or the wait for what it asked came,
  /// no later than there. Then whatever waited there for a phase has waited for it here.
  bool waits_as_early_as(const RunWork& there) const;
  /// The work of one cluster, but for where in global memory it acts.
  std::uint64_t of_cluster(std::uint32_t cluster) const;
  /// What a cluster read and wrote in global memory, as one number: that of two sets is the sum of
  /// theirs.
  std::uint64_t accesses_of_cluster(std::uint32_t cluster) const;

 private:
  /// The latest try of a warp on an mbarrier.
  struct Asked {
    std::int64_t phase = 0;
    SourceSite site{};
    Ordering ordering{};
    std::uint32_t lanes = 0;
    std::size_t number = 0;  // in `settled`
  };

  struct Warp {
    /// Of lanes, each at an address of its own: an event for each rectangle of bytes.
    struct LaneAccess {
      std::uint64_t time = 0;
      Op op = Op::kCount;
      std::uint32_t line = 0;
      std::uint32_t lanes = 0;
      bool operator==(const LaneAccess&) const = default;
    };
    LaneAccess latest;
    Hash work;
    Hash places;
    std::uint64_t operations = 0;
    /// Of each try: how many operations came before its phase was known to be complete.
    std::vector<std::uint64_t> settled;
  };

  Warp& warp_of(const Event& event) {
    if (event.warp >= work_.size()) {
      work_.resize(event.warp + 1);
    }
    return work_[event.warp];
  }
  void note_access(const Event& event);
  void note_lanes(const Event& event, Warp& warp);
  bool asked_for_before(const Event& event);

  Divisor warps_;                                          // of a cluster
  std::uint32_t ctas_ = 1;                                 // of a cluster
  std::unordered_map<std::uint64_t, Asked> asked_phases_;  // by warp and address
  std::vector<Warp> work_;                                 // by warp in the grid
  std::vector<std::uint64_t> accesses_;                    // by cluster
};

}  // namespace warptwin::sim
