/// Who in a group of clusters has an order of operations of his own, and what else a clock of the
/// proof counts of a warp. Both have numbers, and only this file computes with them.

#pragma once

#include <cstddef>
#include <cstdint>

#include "sim/model/divisor.hpp"

namespace warptwin::sim {

/// Whose chain it is.
enum class ChainKind : std::uint32_t {
  kWarp,
  kLateLanes,    // that a wait of the warp left behind
  kTensorQueue,  // its mma and commit operations
};

/// W chains of each kind, for the warps of a group in turn. Behind them stand components of clocks
/// that are nobody's chain: of each warp its remote leaves, all its lanes, sets of its lanes.
class Chains {
 public:
  explicit constexpr Chains(std::uint32_t warps) : warps_{warps} {}

  constexpr std::uint32_t warps() const { return warps_; }
  /// Of a warp by its number in the grid.
  constexpr std::uint32_t group_of(std::uint32_t warp) const { return warp / warps_; }
  constexpr std::uint32_t place_of(std::uint32_t warp) const { return warp % warps_; }

  /// Of a warp by its place in the group, which is also the number of its own chain.
  constexpr std::uint32_t late_lanes(std::uint32_t warp) const { return 1 * warps_ + warp; }
  constexpr std::uint32_t tensor_queue(std::uint32_t warp) const { return 2 * warps_ + warp; }
  constexpr std::uint32_t count() const { return kKinds * warps_; }
  constexpr ChainKind kind(std::uint32_t chain) const { return ChainKind{chain / warps_}; }

  constexpr std::uint32_t leaves(std::uint32_t warp) const { return kKinds * warps_ + warp; }
  constexpr std::uint32_t all_lanes(std::uint32_t warp) const {
    return (kKinds + 1) * warps_ + warp;
  }
  constexpr std::uint32_t lane_set(std::size_t set, std::uint32_t warp) const {
    return (kKinds + 2 + static_cast<std::uint32_t>(set)) * warps_ + warp;
  }
  /// How many there are, with so many sets of lanes.
  constexpr std::uint32_t components(std::uint32_t lane_sets) const {
    return (kKinds + 2 + lane_sets) * warps_;
  }

 private:
  static constexpr std::uint32_t kKinds = 3;

  Divisor warps_;
};

}  // namespace warptwin::sim
