/// Broken: an MMA frees the stage of its own CTA alone.
///
/// Its operands were copied by the other CTA too, which overwrites this one's stage when its own is
/// free; each waits for a second commit that nobody makes.
///
/// Expected: BULK_MCAST_MASK. Twin: gemm_multicast.

#pragma once

#include "scenarios/gemm_multicast.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct GemmMulticastCommitToOwnCtaKernel : GemmMulticast::Kernel<M, Extents> {
  using Base = GemmMulticast::Kernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;
  using Input = typename Base::Input;
  using Accum = typename Base::Accum;

  static constexpr void mma(M& machine, const Problem& problem, const Storage& smem) {
    auto warp = MmaWarp<M, Accum>::create(machine, smem.accum, smem.tmem);
    auto input = Input{machine, smem.input}.consumer();
    for ([[maybe_unused]] const Tile tile : problem.tiles(machine)) {
      auto accum = warp.acquire_mma_linear();
      for (std::uint32_t k = 0; k < problem.k_tiles; ++k) {
        auto stage = input.acquire_stage();
        accum.multiply(stage.payload(), k == 0 ? Accumulate::kNo : Accumulate::kYes);
        machine.tcgen05_commit(CtaGroup::kOne, stage.mbar());  // the fault: to all who share
        std::move(stage).release_without_signal();
      }
      std::move(accum).release();
    }
    std::move(warp).release();
  }
};

struct GemmMulticastCommitToOwnCta : GemmMulticast {
  static constexpr ScenarioInfo kInfo{"gemm_multicast_commit_to_own_cta",
                                      ScenarioKind::kBroken,
                                      "a stage that two CTAs have filled is freed in one",
                                      "BULK_MCAST_MASK",
                                      "gemm_multicast"};
  template <Machine M, class Extents>
  using Kernel = GemmMulticastCommitToOwnCtaKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
