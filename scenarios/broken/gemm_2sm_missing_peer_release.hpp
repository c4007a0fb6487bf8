/// Broken: the accumulator is free when the leader's epilogue has read its half; the peer, which
/// reads the other, is not asked. The barrier is initialised for as many.
///
/// Nobody is stuck: the next tile's MMA overwrites what the peer still reads.
///
/// Expected: PIPELINE_COUNT_MISMATCH. Twin: gemm_2sm.

#pragma once

#include "scenarios/broken/gemm_2sm_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct Gemm2smMissingPeerReleaseKernel : Gemm2smKernel<M, Extents> {
  using Base = Gemm2smKernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Accum = typename Base::Accum;

  struct Storage : Base::Storage {
    using Base::Storage::Storage;
    constexpr void init(M& machine) const {
      this->input.init(machine);
      this->tmem.init(machine);
      for (std::uint32_t a = 0; a < this->accum.config.stages; ++a) {
        machine.mbarrier_init(this->accum.barriers.full[a], 1);
        // The fault: the lanes of one epilogue, where both CTAs' read the accumulator.
        machine.mbarrier_init(this->accum.barriers.empty[a], kGemmRoles.lanes(Role::kEpilogue));
      }
    }
  };

  static constexpr void epilogue(M& machine, const Problem& problem, const Storage& smem) {
    auto warp = EpilogueWarp<M, Accum>::create(machine, smem.accum, smem.tmem);
    typename M::template Fragment<16> row;
    for ([[maybe_unused]] const Tile tile : problem.tiles(machine)) {
      const OutputStage accum = warp.output_pipeline().acquire_for_epilogue();
      machine.tcgen05_ld_32x32b(row,
                                accum.tmem.address().at_lane(kWarpLanes * machine.warp_index()));
      machine.tcgen05_wait_ld(row);
      if (smem.accum.cluster.is_leader(machine.cta_rank())) {
        warp.output_pipeline().release_from_epilogue(accum);
      }
    }
    std::move(warp).release();
  }
};

struct Gemm2smMissingPeerRelease : Gemm2smTwin {
  static constexpr ScenarioInfo kInfo{"gemm_2sm_missing_peer_release",
                                      ScenarioKind::kBroken,
                                      "the peer does not free the accumulator it has read",
                                      "PIPELINE_COUNT_MISMATCH",
                                      "gemm_2sm"};
  template <Machine M, class Extents>
  using Kernel = Gemm2smMissingPeerReleaseKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
