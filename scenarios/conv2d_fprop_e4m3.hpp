/// Scenario: conv2d_fprop of e4m3 operands; Y and Z are bf16.
///
/// Barriers as in conv2d_fprop.
///
/// Expected: clean, as conv2d_fprop is.

#pragma once

#include "scenarios/conv2d_fprop.hpp"

namespace warptwin::scenarios {

struct Conv2dFpropE4m3 : Conv2dFpropOf<GemmEpilogueLoadPartsOf<f8e4m3, bf16>> {
  static constexpr ScenarioInfo kInfo{
      "conv2d_fprop_e4m3", ScenarioKind::kClean, "2-D convolution, e4m3 in, bf16 out"};
};

}  // namespace warptwin::scenarios
