/// Broken: the MMA warp of the peer reads responses and does not free their slots.
///
/// It multiplies nothing, and its lanes are counted in clc.empty all the same: the scheduler waits
/// for them when it comes to a slot again.
///
/// Expected: MBAR_UNDERARRIVE. Twin: gemm_persistent.

#pragma once

#include "scenarios/broken/gemm_persistent_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct GemmPersistentMissingResponseReleaseKernel : GemmPersistentKernel<M, Extents> {
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
      machine.fence_proxy_async(ProxySpace::kSharedCta);
      clc.consumer_step();  // the fault: clc.arrive_empty() is missing
    }
    std::move(warp).release();
  }
};

struct GemmPersistentMissingResponseRelease : GemmPersistentTwin {
  static constexpr ScenarioInfo kInfo{"gemm_persistent_missing_response_release",
                                      ScenarioKind::kBroken,
                                      "the MMA warp of the peer does not arrive on clc.empty",
                                      "MBAR_UNDERARRIVE",
                                      "gemm_persistent"};
  template <Machine M, class Extents>
  using Kernel = GemmPersistentMissingResponseReleaseKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
