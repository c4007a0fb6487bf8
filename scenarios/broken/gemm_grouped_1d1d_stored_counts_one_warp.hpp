/// Broken: sfb.stored counts the lanes of one warp.
///
/// Four warps arrive, one for each quarter of the lanes: the MMA goes on after the first of them.
///
/// Expected: PIPELINE_COUNT_MISMATCH. Twin: gemm_grouped_1d1d.

#pragma once

#include "scenarios/broken/gemm_grouped_1d1d_twin.hpp"

namespace warptwin::scenarios {

template <class Extents>
struct GemmGrouped1d1dStoredCountsOneWarpStorage : GemmGrouped1d1dStorage<Extents> {
  constexpr GemmGrouped1d1dStoredCountsOneWarpStorage(auto& layout, const Extents& e)
      : GemmGrouped1d1dStorage<Extents>{layout, e} {
    this->sfb.stored_arrivals = kWarpLanes;  // the fault: of four warps
  }
};

template <Machine M, class Extents>
struct GemmGrouped1d1dStoredCountsOneWarpKernel : GemmGrouped1d1dKernel<M, Extents> {
  using Storage = GemmGrouped1d1dStoredCountsOneWarpStorage<Extents>;
};

struct GemmGrouped1d1dStoredCountsOneWarp : GemmGrouped1d1dTwin {
  static constexpr ScenarioInfo kInfo{"gemm_grouped_1d1d_stored_counts_one_warp",
                                      ScenarioKind::kBroken,
                                      "the MMA waits for one of the four storing warps",
                                      "PIPELINE_COUNT_MISMATCH",
                                      "gemm_grouped_1d1d"};
  template <Machine M, class Extents>
  using Kernel = GemmGrouped1d1dStoredCountsOneWarpKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
