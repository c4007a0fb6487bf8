/// Scenario: conv2d_im2col by single CTAs that claim tiles by cluster launch control.
///
/// Barriers as in conv2d_fprop_clc.
///
/// Expected: clean in every interleaving, as conv2d_im2col_persistent is.

#pragma once

#include "scenarios/conv2d_im2col_persistent.hpp"

namespace warptwin::scenarios {

struct Conv2dIm2colClc : Conv2dIm2colPersistentOf<CtaGroup::kOne, GemmEpilogueLoadParts> {
  static constexpr ScenarioInfo kInfo{"conv2d_im2col_clc",
                                      ScenarioKind::kClean,
                                      "2-D convolution by im2col maps, by CTAs that claim tiles"};
};

}  // namespace warptwin::scenarios
