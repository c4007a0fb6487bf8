/// Which clusters of a run are alike: warp by warp they have executed the same operations in the
/// same order, but for addresses and coordinates in global memory.

#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "sim/model/gpu.hpp"

namespace warptwin::sim {

/// Of the clusters that have ended.
struct ClusterKinds {
  std::uint64_t clusters = 0;
  std::uint64_t seen = 0;   // by who observes the machine
  std::uint64_t alike = 0;  // not seen, and like one that was
  std::uint32_t kinds = 0;  // none like another
};

class Likeness {
 public:
  explicit Likeness(const Gpu& gpu);

  /// The warp has executed `op`. A poll that says no does not count: how many there are is a matter
  /// of time.
  void did(WarpSlot warp, const Operation& op);
  ClusterKinds kinds() const;

 private:
  struct ClusterState {
    std::uint64_t hash = 0;
    std::uint32_t ended = 0;  // of its warps
  };
  struct Kind {
    std::uint64_t clusters = 0;
    std::uint64_t seen = 0;
  };

  void end(WarpSlot warp);

  const Gpu& gpu_;
  std::uint32_t warps_;                            // of a cluster
  std::vector<std::uint64_t> hashes_;              // by warp slot: of what it has done
  std::vector<ClusterState> clusters_;             // by cluster slot
  std::unordered_map<std::uint64_t, Kind> kinds_;  // by hash
};

}  // namespace warptwin::sim
