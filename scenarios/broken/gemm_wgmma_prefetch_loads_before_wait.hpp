/// Broken: gemm_wgmma_prefetch, which may begin before the grid before it has ended, does not wait.
///
/// Its first copies of A and B may bring what that grid has not written yet.
///
/// Expected: PDL_MISSING_WAIT. Twin: gemm_wgmma, which begins when that grid has ended.

#pragma once

#include "scenarios/broken/gemm_wgmma_twin.hpp"

namespace warptwin::scenarios {

struct PrefetchedWithoutWait : Prefetched<GemmParts> {
  static constexpr void wait_for_grid_before(Machine auto&) {}  // the fault: no griddepcontrol.wait
};

struct GemmWgmmaPrefetchLoadsBeforeWait : GemmWgmmaOf<PrefetchedWithoutWait> {
  static constexpr ScenarioInfo kInfo{"gemm_wgmma_prefetch_loads_before_wait",
                                      ScenarioKind::kBroken,
                                      "operands are loaded before the grid before has ended",
                                      "PDL_MISSING_WAIT",
                                      "gemm_wgmma"};

  static std::span<const Parameter> parameters() { return GemmWgmmaTwin::parameters(); }
};

}  // namespace warptwin::scenarios
