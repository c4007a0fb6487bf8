/// Scenario: conv2d_fprop of f16 operands; Y and Z are f16.
///
/// Barriers as in conv2d_fprop.
///
/// Expected: clean, as conv2d_fprop is.

#pragma once

#include "scenarios/conv2d_fprop.hpp"

namespace warptwin::scenarios {

struct Conv2dFpropF16 : Conv2dFpropOf<GemmEpilogueLoadPartsOf<f16, f16>> {
  static constexpr ScenarioInfo kInfo{
      "conv2d_fprop_f16", ScenarioKind::kClean, "2-D convolution, f16 in, f16 out"};
};

}  // namespace warptwin::scenarios
