/// Broken: the scheduler publishes one tile after the other, and waits for nobody.
///
/// A slot is written anew before all have read it, and its barrier runs ahead of those who wait.
///
/// Expected: MBAR_WAIT_PHASE_ALIASED. Twin: gemm_grouped.

#pragma once

#include "scenarios/broken/gemm_grouped_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct GemmGroupedPublishWithoutWaitKernel : GemmGroupedKernel<M, Extents> {
  using Base = GemmGroupedKernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;
  using Input = typename Base::Input;
  using Accum = typename Base::Accum;

  static constexpr void scheduler(M& machine, const Problem& problem, const Storage& smem) {
    std::uint32_t index = machine.cluster_index();
    for (PipelineState state; problem.tile(index).exists(); state.step(kWorkStages)) {
      index += machine.cluster_count();
      // The fault: no wait for work.empty.
      write_tile(machine, smem.work.tile(state.index), problem.tile(index));
      arrive_as<ArrivalKind::kElectedLane>(
          machine, smem.work.barriers.full[state.index], SourceSite::current());
    }
  }
};

struct GemmGroupedPublishWithoutWait : GemmGroupedTwin {
  static constexpr ScenarioInfo kInfo{"gemm_grouped_publish_without_wait",
                                      ScenarioKind::kBroken,
                                      "slots are published without waiting for their readers",
                                      "MBAR_WAIT_PHASE_ALIASED",
                                      "gemm_grouped"};
  template <Machine M, class Extents>
  using Kernel = GemmGroupedPublishWithoutWaitKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
