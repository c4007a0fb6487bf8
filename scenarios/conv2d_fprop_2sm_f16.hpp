/// Scenario: conv2d_fprop_2sm of f16 operands; Y and Z are f16.
///
/// Barriers as in conv2d_fprop_2sm.
///
/// Expected: clean, as conv2d_fprop_2sm is.

#pragma once

#include "scenarios/conv2d_fprop_2sm.hpp"

namespace warptwin::scenarios {

struct Conv2dFprop2smF16 : Conv2dFpropClusterOf<CtaGroup::kTwo, GemmEpilogueLoadPartsOf<f16, f16>> {
  static constexpr ScenarioInfo kInfo{"conv2d_fprop_2sm_f16",
                                      ScenarioKind::kClean,
                                      "2-D convolution by pairs of CTAs, f16 in, f16 out"};
};

}  // namespace warptwin::scenarios
