/// Scenario: conv2d_fprop_persistent of f16 operands; Y and Z are f16.
///
/// Barriers as in conv2d_fprop_persistent.
///
/// Expected: clean, as conv2d_fprop_persistent is.

#pragma once

#include "scenarios/conv2d_fprop_persistent.hpp"

namespace warptwin::scenarios {

struct Conv2dFpropPersistentF16
    : Conv2dFpropPersistentOf<CtaGroup::kTwo, GemmEpilogueLoadPartsOf<f16, f16>> {
  static constexpr ScenarioInfo kInfo{"conv2d_fprop_persistent_f16",
                                      ScenarioKind::kClean,
                                      "2-D convolution by pairs that claim tiles, f16 in, f16 out"};
};

}  // namespace warptwin::scenarios
