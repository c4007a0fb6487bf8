/// Scenario: gemm_2sm of e4m3 operands; D is e4m3.
///
/// Barriers as in gemm_2sm.
///
/// Expected: clean, as gemm_2sm is.

#pragma once

#include "scenarios/gemm_2sm.hpp"

namespace warptwin::scenarios {

struct Gemm2smE4m3 : GemmClusterOf<CtaGroup::kTwo, GemmPartsOf<f8e4m3, f8e4m3>> {
  static constexpr ScenarioInfo kInfo{
      "gemm_2sm_e4m3", ScenarioKind::kClean, "GEMM by pairs of CTAs, e4m3 in, e4m3 out"};
};

}  // namespace warptwin::scenarios
