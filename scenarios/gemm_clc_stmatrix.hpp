/// Scenario: gemm_clc whose epilogue has sums as matrix instructions do, writes D by stmatrix,
/// and each of whose warps stores its own rows.
///
/// Barriers as in gemm_clc; no named barrier brings the epilogue warps together between stores.
///
/// Expected: clean, as gemm_clc is.

#pragma once

#include "scenarios/gemm_clc.hpp"

namespace warptwin::scenarios {

struct GemmClcStmatrix : GemmPersistentOf<CtaGroup::kOne, ByMatrices<StoredByWarps<GemmParts>>> {
  static constexpr ScenarioInfo kInfo{"gemm_clc_stmatrix",
                                      ScenarioKind::kClean,
                                      "GEMM whose clusters claim tiles, D written by stmatrix"};
};

}  // namespace warptwin::scenarios
