/// Broken: a stage is armed with the bytes of all pixels between the first and the last of its box.
///
/// TMA copies every second of every second row, and counts what it has copied.
///
/// Expected: MBAR_TX_MISMATCH. Twin: conv2d_fprop.

#pragma once

#include "scenarios/broken/conv2d_fprop_twin.hpp"

namespace warptwin::scenarios {

struct Conv2dFpropSkippedPixelsCounted : Conv2dFpropStrideTwin {
  static constexpr ScenarioInfo kInfo{"conv2d_fprop_skipped_pixels_counted",
                                      ScenarioKind::kBroken,
                                      "pixels that the stride skips are counted as copied",
                                      "MBAR_TX_MISMATCH",
                                      "conv2d_fprop"};
  template <Machine M, class Extents>
  using Kernel = Conv2dFpropTwinKernel<M, Extents, Conv2dFpropSkippedPixelsCounted>;

  static constexpr std::uint32_t armed_bytes(const auto& problem,
                                             const auto& smem,
                                             const ConvWalk::Pixel&,
                                             const ConvWalk::Step&) {
    // The fault: those that the stride skips are not copied.
    const std::uint32_t copied = smem.input.at(0, 0).a_tile().tile.bytes();
    const std::uint32_t stride = problem.walk.stride;
    return smem.input.full_bytes + copied * (stride * stride - 1);
  }
};

}  // namespace warptwin::scenarios
