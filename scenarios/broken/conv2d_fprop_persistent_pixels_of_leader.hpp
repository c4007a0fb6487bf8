/// Broken: both CTAs of a pair load the pixels of the leader's tile.
///
/// Every byte that is waited for comes. Each CTA stores to its own tile, and the peer's has what
/// belongs to the tile before it.
///
/// Expected: RESULT_WRONG. Twin: conv2d_fprop_persistent.

#pragma once

#include "scenarios/conv2d_fprop_persistent.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct Conv2dFpropPersistentPixelsOfLeaderKernel : Conv2dFpropPersistentKernel<M, Extents> {
  using Base = Conv2dFpropPersistentKernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;
  using Clc = typename Base::Clc;

  static constexpr void load(M& machine, const Problem& problem, const Storage& smem) {
    auto clc = Clc{machine, smem.clc};
    machine.griddepcontrol_wait();
    // The fault: the tiles of machine.cta_rank() are meant.
    const WorkIterator<Clc> work{ClusterTiles{problem.tile_walk, 0}, machine, clc};
    Base::load_tiles(machine, problem, smem, work, [&] {
      if (machine.cta_rank() == 0 && clc.asks()) {
        clc.signal_throttle();
      }
    });
  }
};

struct Conv2dFpropPersistentPixelsOfLeader : Conv2dFpropPersistent {
  static constexpr ScenarioInfo kInfo{"conv2d_fprop_persistent_pixels_of_leader",
                                      ScenarioKind::kBroken,
                                      "both CTAs of a pair load the pixels of the leader's tile",
                                      "RESULT_WRONG",
                                      "conv2d_fprop_persistent"};
  template <Machine M, class Extents>
  using Kernel = Conv2dFpropPersistentPixelsOfLeaderKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
