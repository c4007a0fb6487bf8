/// Broken: the scheduler asks two tiles ahead, and leaves when the first request fails.
///
/// The other is still on its way, to CTAs that may have ended when it comes.
///
/// Expected: PRODUCER_TAIL_MISSING. Twin: gemm_persistent.

#pragma once

#include "scenarios/broken/gemm_persistent_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct GemmPersistentMissingClcDrainKernel : GemmPersistentKernel<M, Extents> {
  using Base = GemmPersistentKernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;
  using Clc = typename Base::Clc;

  static constexpr void scheduler(M& machine, const Problem& problem, const Storage& smem) {
    auto clc = Clc{machine, smem.clc};
    if (machine.cta_rank() != 0) {
      return;
    }
    clc.request();
    for ([[maybe_unused]] const Tile tile : problem.work(machine, clc)) {
      clc.wait_throttle();
      clc.request();
    }
    // The fault: the second request is not waited for. clc.drain() does not: nobody reads it.
  }
};

struct GemmPersistentMissingClcDrain : GemmPersistentTwin {
  static constexpr ScenarioInfo kInfo{"gemm_persistent_missing_clc_drain",
                                      ScenarioKind::kBroken,
                                      "the scheduler ends with a request on its way",
                                      "PRODUCER_TAIL_MISSING",
                                      "gemm_persistent"};
  template <Machine M, class Extents>
  using Kernel = GemmPersistentMissingClcDrainKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
