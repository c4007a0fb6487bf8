/// Scenario: conv2d_im2col by pairs of CTAs.
///
/// Barriers as in conv2d_fprop_2sm.
///
/// Expected: clean in every interleaving, as conv2d_im2col is, for any number of pairs.

#pragma once

#include "scenarios/conv2d_im2col.hpp"

namespace warptwin::scenarios {

struct Conv2dIm2col2sm : Conv2dIm2colOf<CtaGroup::kTwo, GemmEpilogueLoadParts> {
  static constexpr ScenarioInfo kInfo{
      "conv2d_im2col_2sm", ScenarioKind::kClean, "2-D convolution by im2col maps, by pairs"};
};

}  // namespace warptwin::scenarios
