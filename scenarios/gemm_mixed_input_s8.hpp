/// Scenario: gemm_mixed_input of whole numbers: A is int8, B is bf16.

#pragma once

#include "scenarios/gemm_mixed_input.hpp"

namespace warptwin::scenarios {

struct GemmMixedInputS8 : GemmMixedInputOf<CtaGroup::kOne, MixedInputParts<s8>> {
  static constexpr ScenarioInfo kInfo{
      "gemm_mixed_input_s8", ScenarioKind::kClean, "gemm_mixed_input of int8 and bf16"};
};

}  // namespace warptwin::scenarios
