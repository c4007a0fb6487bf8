/// Broken: the epilogue moves on to the next accumulator without freeing the one it has read.
///
/// Nobody arrives on accum.empty: the MMA warp stops when every accumulator has been used once.
///
/// Expected: DEADLOCK. Twin: gemm.

#pragma once

#include "scenarios/broken/gemm_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct GemmMissingAccumReleaseKernel : GemmKernel<M, Extents> {
  using Base = GemmKernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;
  using Input = typename Base::Input;
  using Accum = typename Base::Accum;

  static constexpr void epilogue(M& machine, const Problem& problem, const Storage& smem) {
    auto warp = EpilogueWarp<M, Accum>::create(machine, smem.accum, smem.tmem);
    typename M::template Fragment<16> row;
    for ([[maybe_unused]] const Tile tile : problem.tiles(machine)) {
      // The fault: acquired by hand, and stepped over; the arrival on accum.empty is missing.
      const OutputStage accum = warp.output_pipeline().acquire_for_epilogue();
      machine.tcgen05_ld_32x32b(row,
                                accum.tmem.address().at_lane(kWarpLanes * machine.warp_index()));
      machine.tcgen05_wait_ld(row);
    }
    std::move(warp).release();
  }
};

struct GemmMissingAccumRelease : GemmTwin {
  static constexpr ScenarioInfo kInfo{"gemm_missing_accum_release",
                                      ScenarioKind::kBroken,
                                      "the epilogue never frees an accumulator",
                                      "DEADLOCK",
                                      "gemm"};
  template <Machine M, class Extents>
  using Kernel = GemmMissingAccumReleaseKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
