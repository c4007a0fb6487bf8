/// Scenario: gemm_2sm of e5m2 operands; D is f16.
///
/// Barriers as in gemm_2sm.
///
/// Expected: clean, as gemm_2sm is.

#pragma once

#include "scenarios/gemm_2sm.hpp"

namespace warptwin::scenarios {

struct Gemm2smE5m2 : GemmClusterOf<CtaGroup::kTwo, GemmPartsOf<f8e5m2, f16>> {
  static constexpr ScenarioInfo kInfo{
      "gemm_2sm_e5m2", ScenarioKind::kClean, "GEMM by pairs of CTAs, e5m2 in, f16 out"};
};

}  // namespace warptwin::scenarios
