/// Broken: each epilogue frees the accumulator on the barrier of its own CTA, as without pairs.
///
/// The leader's accum.empty gets half of its arrivals, the peer's gets arrivals that nobody waits
/// for.
///
/// Expected: MBAR_UNDERARRIVE. Twin: gemm_2sm.

#pragma once

#include "scenarios/broken/gemm_2sm_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct Gemm2smFreesOwnAccumKernel : Gemm2smKernel<M, Extents> {
  using Base = Gemm2smKernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;
  using Accum = typename Base::Accum;

  static constexpr void epilogue(M& machine, const Problem& problem, const Storage& smem) {
    auto warp = EpilogueWarp<M, Accum>::create(machine, smem.accum, smem.tmem);
    typename M::template Fragment<16> row;
    for ([[maybe_unused]] const Tile tile : problem.tiles(machine)) {
      const OutputStage accum = warp.output_pipeline().acquire_for_epilogue();
      machine.tcgen05_ld_32x32b(row,
                                accum.tmem.address().at_lane(kWarpLanes * machine.warp_index()));
      machine.tcgen05_wait_ld(row);
      machine.tcgen05_fence_before_thread_sync();
      // The fault: the leader's barrier is meant, in both CTAs.
      machine.mbarrier_arrive(warp.output_pipeline().consumer_mbar(accum.index()));
    }
    std::move(warp).release();
  }
};

struct Gemm2smFreesOwnAccum : Gemm2smTwin {
  static constexpr ScenarioInfo kInfo{"gemm_2sm_frees_own_accum",
                                      ScenarioKind::kBroken,
                                      "the peer frees its accumulator on its own barrier",
                                      "MBAR_UNDERARRIVE",
                                      "gemm_2sm"};
  template <Machine M, class Extents>
  using Kernel = Gemm2smFreesOwnAccumKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
