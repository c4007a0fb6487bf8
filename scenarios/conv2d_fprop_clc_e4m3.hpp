/// Scenario: conv2d_fprop_clc of e4m3 operands; Y and Z are bf16.
///
/// Barriers as in conv2d_fprop_clc.
///
/// Expected: clean, as conv2d_fprop_clc is.

#pragma once

#include "scenarios/conv2d_fprop_clc.hpp"

namespace warptwin::scenarios {

struct Conv2dFpropClcE4m3
    : Conv2dFpropPersistentOf<CtaGroup::kOne, GemmEpilogueLoadPartsOf<f8e4m3, bf16>> {
  static constexpr ScenarioInfo kInfo{
      "conv2d_fprop_clc_e4m3",
      ScenarioKind::kClean,
      "2-D convolution by CTAs that claim tiles, e4m3 in, bf16 out"};
};

}  // namespace warptwin::scenarios
