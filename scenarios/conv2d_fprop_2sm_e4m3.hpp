/// Scenario: conv2d_fprop_2sm of e4m3 operands; Y and Z are bf16.
///
/// Barriers as in conv2d_fprop_2sm.
///
/// Expected: clean, as conv2d_fprop_2sm is.

#pragma once

#include "scenarios/conv2d_fprop_2sm.hpp"

namespace warptwin::scenarios {

struct Conv2dFprop2smE4m3
    : Conv2dFpropClusterOf<CtaGroup::kTwo, GemmEpilogueLoadPartsOf<f8e4m3, bf16>> {
  static constexpr ScenarioInfo kInfo{"conv2d_fprop_2sm_e4m3",
                                      ScenarioKind::kClean,
                                      "2-D convolution by pairs of CTAs, e4m3 in, bf16 out"};
};

}  // namespace warptwin::scenarios
