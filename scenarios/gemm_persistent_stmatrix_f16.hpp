/// Scenario: gemm_persistent of f16 whose epilogue has sums as matrix instructions do, writes D by
/// stmatrix, and each of whose warps stores its own rows.
///
/// Barriers as in gemm_persistent; no named barrier brings the epilogue warps together between
/// stores.
///
/// Expected: clean, as gemm_persistent is.

#pragma once

#include "scenarios/gemm_persistent.hpp"

namespace warptwin::scenarios {

struct GemmPersistentStmatrixF16
    : GemmPersistentOf<CtaGroup::kTwo, ByMatrices<StoredByWarps<GemmPartsOf<f16, f16>>>> {
  static constexpr ScenarioInfo kInfo{
      "gemm_persistent_stmatrix_f16",
      ScenarioKind::kClean,
      "GEMM by pairs of CTAs whose clusters claim tiles, D written by stmatrix, f16"};
};

}  // namespace warptwin::scenarios
