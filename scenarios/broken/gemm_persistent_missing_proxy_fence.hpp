/// Broken: the MMA warps read a response without a proxy fence behind it.
///
/// The next response into the slot is written by the asynchronous proxy: an arrival alone does not
/// keep it behind an ordinary read.
///
/// Expected: CLC_RESP_OVERWRITE. Twin: gemm_persistent.

#pragma once

#include "scenarios/broken/gemm_persistent_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct GemmPersistentMissingProxyFenceKernel : GemmPersistentKernel<M, Extents> {
  using Base = GemmPersistentKernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;
  using Clc = typename Base::Clc;
  using Accum = typename Base::Accum;

  static constexpr void mma(M& machine, const Problem& problem, const Storage& smem) {
    if (smem.input.cluster.is_leader(machine.cta_rank())) {
      Base::mma(machine, problem, smem);
      return;
    }
    auto clc = Clc{machine, smem.clc};
    auto warp = MmaWarp<M, Accum>::create(machine, smem.accum, smem.tmem);
    for (WorkResponse response{true, 0}; response.canceled;) {
      clc.wait_full();
      response = clc.read();
      clc.arrive_empty();  // the fault: fence.proxy.async is missing
      clc.consumer_step();
    }
    std::move(warp).release();
  }
};

struct GemmPersistentMissingProxyFence : GemmPersistentTwin {
  static constexpr ScenarioInfo kInfo{
      "gemm_persistent_missing_proxy_fence",
      ScenarioKind::kBroken,
      "no fence.proxy.async between reading a response and freeing its slot",
      "CLC_RESP_OVERWRITE",
      "gemm_persistent"};
  template <Machine M, class Extents>
  using Kernel = GemmPersistentMissingProxyFenceKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
