/// Scenario: gemm_clc whose epilogue stores the transpose of D.
///
/// Barriers as in gemm_clc.
///
/// Expected: clean, as gemm_clc is.

#pragma once

#include "scenarios/gemm_clc.hpp"

namespace warptwin::scenarios {

struct GemmClcTransposed : GemmPersistentOf<CtaGroup::kOne, Transposed<GemmParts>> {
  static constexpr ScenarioInfo kInfo{"gemm_clc_transposed",
                                      ScenarioKind::kClean,
                                      "GEMM whose clusters claim tiles, D stored as (n, m)"};
};

}  // namespace warptwin::scenarios
