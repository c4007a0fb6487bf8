/// Broken: places follow each other by `stride` from tile to tile, and by one within a tile: the
/// map takes every pixel of the bounding box.
///
/// Expected: RESULT_WRONG. Twin: conv2d_im2col.

#pragma once

#include "scenarios/conv2d_im2col.hpp"

namespace warptwin::scenarios {

struct Conv2dIm2colStrideInWalkAlone : Conv2dIm2col {
  static constexpr ScenarioInfo kInfo{"conv2d_im2col_stride_in_walk_alone",
                                      ScenarioKind::kBroken,
                                      "an im2col map without the convolution's stride",
                                      "RESULT_WRONG",
                                      "conv2d_im2col"};

  static std::span<const Parameter> parameters() {
    static const auto kParameters = extended(
        Conv2dIm2col::parameters(), {{"stride", "pixels of X from one of Y to the next", 2, 1, 8}});
    return kParameters;
  }
  static Workload workload(const ParameterSet& p) {
    Workload workload = Conv2dIm2col::workload(p);
    workload.maps[0].outer[0].step = 1;  // the fault: of both dimensions
    workload.maps[0].outer[1].step = 1;
    return workload;
  }
};

}  // namespace warptwin::scenarios
