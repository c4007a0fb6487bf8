/// Scenario: conv2d_fprop_clc of f16 operands; Y and Z are f16.
///
/// Barriers as in conv2d_fprop_clc.
///
/// Expected: clean, as conv2d_fprop_clc is.

#pragma once

#include "scenarios/conv2d_fprop_clc.hpp"

namespace warptwin::scenarios {

struct Conv2dFpropClcF16
    : Conv2dFpropPersistentOf<CtaGroup::kOne, GemmEpilogueLoadPartsOf<f16, f16>> {
  static constexpr ScenarioInfo kInfo{"conv2d_fprop_clc_f16",
                                      ScenarioKind::kClean,
                                      "2-D convolution by CTAs that claim tiles, f16 in, f16 out"};
};

}  // namespace warptwin::scenarios
