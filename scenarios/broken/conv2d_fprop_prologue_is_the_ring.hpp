/// Broken: the load warp tells the epilogue-load warp to go on after as many k steps as the ring
/// has stages, though a tile may have fewer.
///
/// A small filter has three: the residual is never asked for.
///
/// Expected: DEADLOCK. Twin: conv2d_fprop.

#pragma once

#include "scenarios/broken/conv2d_fprop_twin.hpp"

namespace warptwin::scenarios {

struct Conv2dFpropPrologueIsTheRing : Conv2dFpropTwin {
  static constexpr ScenarioInfo kInfo{"conv2d_fprop_prologue_is_the_ring",
                                      ScenarioKind::kBroken,
                                      "a tile with fewer k steps than stages has no prologue",
                                      "DEADLOCK",
                                      "conv2d_fprop"};
  template <Machine M, class Extents>
  using Kernel = Conv2dFpropTwinKernel<M, Extents, Conv2dFpropPrologueIsTheRing>;

  static constexpr std::uint32_t prologue(const auto&, const auto& smem) {
    return smem.input.barriers.stages;  // the fault: or the k steps, if they are fewer
  }
};

}  // namespace warptwin::scenarios
