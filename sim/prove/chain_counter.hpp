/// How far each agent of a run is.

#pragma once

#include <cstdint>
#include <vector>

#include "common/trace/event.hpp"

#include "sim/model/gpu.hpp"

namespace warptwin::sim {

/// Counts what each agent of a run has executed, in the same way for a run that is proved and for
/// one that follows a witness.
class ChainCounter {
 public:
  explicit ChainCounter(const LaunchConfig& config);
  /// Index of the operation in its warp, from 1; 0 for an event that is no step of a warp.
  std::uint32_t warp_step(const Event& event);
  /// How far a warp is, by its number in the grid.
  std::uint32_t warp_index(std::uint32_t warp) const { return at(index_, warp); }
  /// A step of a tensor queue or of late lanes.
  std::uint32_t late_step(std::uint32_t warp) { return ++slot(late_, warp); }
  std::uint32_t late_index(std::uint32_t warp) const { return at(late_, warp); }
  std::uint32_t tensor_issue(std::uint32_t warp) { return ++slot(tensor_, warp); }
  std::uint32_t tensor_issued(std::uint32_t warp) const { return at(tensor_, warp); }
  std::uint32_t leaf_issue(std::uint32_t warp) { return ++slot(leaf_, warp); }
  std::uint32_t leaf_issued(std::uint32_t warp) const { return at(leaf_, warp); }

 private:
  static std::uint32_t& slot(std::vector<std::uint32_t>& of, std::uint32_t warp) {
    if (warp >= of.size()) {
      of.resize(warp + 1, 0);
    }
    return of[warp];
  }
  static std::uint32_t at(const std::vector<std::uint32_t>& of, std::uint32_t warp) {
    return warp < of.size() ? of[warp] : 0;
  }

  std::vector<std::uint32_t> index_;
  std::vector<std::uint64_t> time_;
  std::vector<std::uint32_t> late_;
  std::vector<std::uint32_t> tensor_;
  std::vector<std::uint32_t> leaf_;
};

}  // namespace warptwin::sim
