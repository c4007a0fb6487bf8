/// Broken: a stage is armed with the bytes of the pixels that lie in the image.
///
/// TMA writes zeros for those that do not, and counts them like any other.
///
/// Expected: MBAR_TX_MISMATCH. Twin: conv2d_fprop.

#pragma once

#include "scenarios/broken/conv2d_fprop_twin.hpp"

namespace warptwin::scenarios {

struct Conv2dFpropPaddingNotCounted : Conv2dFpropTwin {
  static constexpr ScenarioInfo kInfo{"conv2d_fprop_padding_not_counted",
                                      ScenarioKind::kBroken,
                                      "padding is left out of the bytes a stage is armed with",
                                      "MBAR_TX_MISMATCH",
                                      "conv2d_fprop"};
  template <Machine M, class Extents>
  using Kernel = Conv2dFpropTwinKernel<M, Extents, Conv2dFpropPaddingNotCounted>;

  static constexpr std::uint32_t armed_bytes(const auto& problem,
                                             const auto& smem,
                                             const ConvWalk::Pixel& at,
                                             const ConvWalk::Step& step) {
    // The fault: a row of pixels above the image is counted too.
    const std::uint32_t above = at.p + step.dp < 0 ? 1 : 0;
    return smem.input.full_bytes - above * problem.walk.tile_q * problem.extents.tile_k * 2;
  }
};

}  // namespace warptwin::scenarios
