/// Broken: both CTAs of a pair load the pixels of the leader's tile.
///
/// As conv2d_fprop_persistent_pixels_of_leader, where the tiles are fixed.
///
/// Expected: RESULT_WRONG. Twin: conv2d_fprop_2sm.

#pragma once

#include "scenarios/conv2d_fprop_2sm.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct Conv2dFprop2smPixelsOfLeaderKernel : Conv2dFprop2sm::Kernel<M, Extents> {
  using Base = Conv2dFprop2sm::Kernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;

  static constexpr void load(M& machine, const Problem& problem, const Storage& smem) {
    const StaticTileScheduler tiles{problem.tile_walk,
                                    machine.cluster_index(),
                                    machine.cluster_count(),
                                    0};  // the fault: machine.cta_rank() is meant
    Base::load_tiles(machine, problem, smem, tiles, [] {});
  }
};

struct Conv2dFprop2smPixelsOfLeader : Conv2dFprop2sm {
  static constexpr ScenarioInfo kInfo{"conv2d_fprop_2sm_pixels_of_leader",
                                      ScenarioKind::kBroken,
                                      "both CTAs of a pair load the pixels of the leader's tile",
                                      "RESULT_WRONG",
                                      "conv2d_fprop_2sm"};
  template <Machine M, class Extents>
  using Kernel = Conv2dFprop2smPixelsOfLeaderKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
