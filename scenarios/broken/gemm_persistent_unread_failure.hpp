/// Broken: the MMA warps do not look whether a request failed, and take its tile.
///
/// Load and epilogue leave on the failing response; the leader's MMA warp waits for a tile that
/// nobody loads.
///
/// Expected: CLC_CTAID_ON_FAIL. Twin: gemm_persistent.

#pragma once

#include "scenarios/broken/gemm_persistent_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct GemmPersistentUnreadFailureKernel : GemmPersistentKernel<M, Extents> {
  using Base = GemmPersistentKernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;
  using Clc = typename Base::Clc;
  using Input = typename Base::Input;
  using Accum = typename Base::Accum;

  static constexpr void mma(M& machine, const Problem& problem, const Storage& smem) {
    auto clc = Clc{machine, smem.clc};
    auto warp = MmaWarp<M, Accum>::create(machine, smem.accum, smem.tmem);
    auto input = Input{machine, smem.input}.consumer();
    for (;;) {
      if (warp.is_leader()) {
        auto accum = warp.acquire_mma_linear();
        for (std::uint32_t k = 0; k < problem.k_tiles; ++k) {
          auto stage = input.acquire_stage();
          accum.multiply(stage.payload(), k == 0 ? Accumulate::kNo : Accumulate::kYes);
          std::move(stage).release();
        }
        std::move(accum).release();
      }
      clc.wait_full();
      const std::uint32_t stage = clc.consumer_stage();
      machine.clc_first_cta(smem.clc.response(stage));  // the fault: is_canceled is not asked
      machine.fence_proxy_async(ProxySpace::kSharedCta);
      clc.arrive_empty();
      clc.consumer_step();
    }
    std::move(warp).release();
  }
};

struct GemmPersistentUnreadFailure : GemmPersistentTwin {
  static constexpr ScenarioInfo kInfo{"gemm_persistent_unread_failure",
                                      ScenarioKind::kBroken,
                                      "the MMA warp does not leave on the failing response",
                                      "CLC_CTAID_ON_FAIL",
                                      "gemm_persistent"};
  template <Machine M, class Extents>
  using Kernel = GemmPersistentUnreadFailureKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
