/// Broken: a slot of tiles counts six warps, as it does where tile_n >= 64.
///
/// The five warps that bring SFB read it and free it, too: the scheduler writes it anew before all
/// have read it, and their arrivals are one phase's too many.
///
/// Expected: PIPELINE_COUNT_MISMATCH. Twin: gemm_grouped_1d1d.

#pragma once

#include "scenarios/broken/gemm_grouped_1d1d_twin.hpp"

namespace warptwin::scenarios {

template <class Extents>
struct GemmGrouped1d1dSixWarpsFreeTilesStorage : GemmGrouped1d1dStorage<Extents> {
  constexpr GemmGrouped1d1dSixWarpsFreeTilesStorage(auto& layout, const Extents& e)
      : GemmGrouped1d1dStorage<Extents>{layout, e} {
    this->work.barriers.empty_arrivals = 6;  // the fault: of eleven
  }
};

template <Machine M, class Extents>
struct GemmGrouped1d1dSixWarpsFreeTilesKernel : GemmGrouped1d1dKernel<M, Extents> {
  using Storage = GemmGrouped1d1dSixWarpsFreeTilesStorage<Extents>;
};

struct GemmGrouped1d1dSixWarpsFreeTiles : GemmGrouped1d1dTwin {
  static constexpr ScenarioInfo kInfo{
      "gemm_grouped_1d1d_six_warps_free_tiles",
      ScenarioKind::kBroken,
      "slots of tiles are free before the warps of SFB have read them",
      "PIPELINE_COUNT_MISMATCH",
      "gemm_grouped_1d1d"};
  template <Machine M, class Extents>
  using Kernel = GemmGrouped1d1dSixWarpsFreeTilesKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
