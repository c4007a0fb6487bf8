/// Scenario: conv2d_fprop_persistent of e4m3 operands; Y and Z are bf16.
///
/// Barriers as in conv2d_fprop_persistent.
///
/// Expected: clean, as conv2d_fprop_persistent is.

#pragma once

#include "scenarios/conv2d_fprop_persistent.hpp"

namespace warptwin::scenarios {

struct Conv2dFpropPersistentE4m3
    : Conv2dFpropPersistentOf<CtaGroup::kTwo, GemmEpilogueLoadPartsOf<f8e4m3, bf16>> {
  static constexpr ScenarioInfo kInfo{
      "conv2d_fprop_persistent_e4m3",
      ScenarioKind::kClean,
      "2-D convolution by pairs that claim tiles, e4m3 in, bf16 out"};
};

}  // namespace warptwin::scenarios
