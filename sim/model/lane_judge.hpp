/// Who knows what lanes of a warp know of each other.

#pragma once

#include <cstdint>

namespace warptwin::sim {

class LaneJudge {
 public:
  virtual ~LaneJudge() = default;
  /// The number of the latest operation of a warp, which is numbered in the grid.
  virtual std::uint32_t now(std::uint32_t warp) const = 0;
  /// Whether what lane `other` has released at the warp's operation `time`, or later, has come to
  /// each of `lanes`, as bits, of the same warp.
  virtual bool knows(std::uint32_t warp,
                     std::uint32_t lanes,
                     std::uint32_t other,
                     std::uint32_t time) const = 0;
};

}  // namespace warptwin::sim
