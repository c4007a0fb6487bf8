/// Broken: the scheduler announces the response's bytes in its own CTA alone.
///
/// They are counted in every CTA: the peer's clc.full has bytes that nobody announced, and no
/// arrival.
///
/// Expected: CLC_TX_MISMATCH. Twin: gemm_persistent.

#pragma once

#include "scenarios/broken/gemm_persistent_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct GemmPersistentExpectOneCtaKernel : GemmPersistentKernel<M, Extents> {
  using Base = GemmPersistentKernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;
  using Clc = typename Base::Clc;

  static constexpr void scheduler(M& machine, const Problem& problem, const Storage& smem) {
    auto clc = Clc{machine, smem.clc};
    if (machine.cta_rank() != 0) {
      return;
    }
    for ([[maybe_unused]] const Tile tile : problem.work(machine, clc)) {
      clc.wait_throttle();
      clc.wait_empty();
      const std::uint32_t stage = clc.producer_stage();
      const Mbarrier full = smem.clc.barriers.full[stage];
      arm(machine, full, kClcResponseBytes, SourceSite::current());  // the fault: CTA 0's only
      machine.clc_try_cancel(smem.clc.response(stage), full, true);
      clc.producer_step();
    }
    clc.drain();
  }
};

struct GemmPersistentExpectOneCta : GemmPersistentTwin {
  static constexpr ScenarioInfo kInfo{"gemm_persistent_expect_one_cta",
                                      ScenarioKind::kBroken,
                                      "the bytes of a response are announced in one CTA",
                                      "CLC_TX_MISMATCH",
                                      "gemm_persistent"};
  template <Machine M, class Extents>
  using Kernel = GemmPersistentExpectOneCtaKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
