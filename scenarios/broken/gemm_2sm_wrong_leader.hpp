/// Broken: the pair's MMA is issued by the CTA of odd rank.
///
/// All bytes are counted in the other, so that it waits for tiles that come and are not counted.
///
/// Expected: DEADLOCK. Twin: gemm_2sm.

#pragma once

#include "scenarios/broken/gemm_2sm_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct Gemm2smWrongLeaderKernel : Gemm2smKernel<M, Extents> {
  using Base = Gemm2smKernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;
  using Input = typename Base::Input;
  using Accum = typename Base::Accum;

  static constexpr void mma(M& machine, const Problem& problem, const Storage& smem) {
    auto warp = MmaWarp<M, Accum>::create(machine, smem.accum, smem.tmem);
    if (!warp.is_leader()) {  // the fault: the leader is meant
      auto input = Input{machine, smem.input}.consumer();
      for ([[maybe_unused]] const Tile tile : problem.tiles(machine)) {
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

struct Gemm2smWrongLeader : Gemm2smTwin {
  static constexpr ScenarioInfo kInfo{"gemm_2sm_wrong_leader",
                                      ScenarioKind::kBroken,
                                      "the CTA of odd rank issues the pair's MMA",
                                      "DEADLOCK",
                                      "gemm_2sm"};
  template <Machine M, class Extents>
  using Kernel = Gemm2smWrongLeaderKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
