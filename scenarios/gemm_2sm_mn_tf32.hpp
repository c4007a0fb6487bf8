/// Scenario: gemm_2sm_mn of tf32 operands; D is f32.
///
/// Barriers as in gemm_2sm. A panel's swizzle keeps 32 bytes together.
///
/// Expected: clean, as gemm_2sm is.

#pragma once

#include "scenarios/gemm_2sm.hpp"

namespace warptwin::scenarios {

struct Gemm2smMnTf32 : GemmClusterOf<CtaGroup::kTwo, MnMajorPartsOf<tf32, f32>> {
  static constexpr ScenarioInfo kInfo{
      "gemm_2sm_mn_tf32", ScenarioKind::kClean, "GEMM by pairs, A and B MN-major, tf32 in"};
};

}  // namespace warptwin::scenarios
