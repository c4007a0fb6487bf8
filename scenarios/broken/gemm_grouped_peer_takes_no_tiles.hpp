/// Broken: the MMA warp of a pair's peer, which computes nothing, does not read the slots.
///
/// Its CTA's scheduler waits for it before the third tile is published.
///
/// Expected: DEADLOCK. Twin: gemm_grouped.

#pragma once

#include "scenarios/broken/gemm_grouped_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct GemmGroupedPeerTakesNoTilesKernel : GemmGroupedKernel<M, Extents> {
  using Base = GemmGroupedKernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;
  using Input = typename Base::Input;
  using Accum = typename Base::Accum;

  static constexpr void mma(M& machine, const Problem& problem, const Storage& smem) {
    auto warp = MmaWarp<M, Accum>::create(machine, smem.accum, smem.tmem);
    if (warp.is_leader()) {  // the fault: the peer must take the tiles, too
      auto input = Input{machine, smem.input}.consumer();
      for (auto at = Base::template tiles<Role::kMma>(machine, problem, smem); at.exists();
           at.next()) {
        auto accum = warp.acquire_mma_linear();
        for (std::uint32_t k = 0; k < problem.k_tiles; ++k) {
          auto stage = input.acquire_stage();
          accum.multiply(stage.payload(), k == 0 ? Accumulate::kNo : Accumulate::kYes);
          std::move(stage).release();
        }
        std::move(accum).release();
      }
    }
    std::move(warp).release();
  }
};

struct GemmGroupedPeerTakesNoTiles : GemmGroupedPairTwin {
  static constexpr ScenarioInfo kInfo{"gemm_grouped_peer_takes_no_tiles",
                                      ScenarioKind::kBroken,
                                      "the peer's MMA warp does not take part in scheduling",
                                      "DEADLOCK",
                                      "gemm_grouped"};
  template <Machine M, class Extents>
  using Kernel = GemmGroupedPeerTakesNoTilesKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
