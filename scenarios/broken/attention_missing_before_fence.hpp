/// Broken: softmax arrives on `scores.replaced` without a tcgen05 fence before it.
///
/// wait::st says that P is there for this warp; the fence that it is before the MMA of another.
///
/// Expected: TMEM_FENCE_MISSING. Twin: attention.

#pragma once

#include "scenarios/broken/attention_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct AttentionMissingBeforeFenceSteps : AttentionSoftmaxSteps<M, Extents> {
  using Base = AttentionSoftmaxSteps<M, Extents>;
  using Base::Base;

  struct Stage {
    constexpr TmemAddress own_rows() const { return rows; }
    TmemAddress rows;
  };

  constexpr Stage acquire() {
    warptwin::acquire(this->machine,
                      this->smem.scores.barriers.full[this->turn.first],
                      state.full_phase(),
                      kAcquireCta,
                      SourceSite::current());
    this->machine.tcgen05_fence_after_thread_sync();
    this->turn.step(state, kAttentionTiles);
    const TmemStage stage = this->tmem.stage(this->smem.scores.config, this->turn.first);
    return {stage.address().at_lane(this->row)};
  }
  constexpr void hand_over(Stage) {
    // The fault: machine.tcgen05_fence_before_thread_sync() is missing.
    this->machine.mbarrier_arrive(this->smem.scores.replaced[this->turn.first]);
  }

  PipelineState state = this->turn.begin();
};

struct AttentionMissingBeforeFence : AttentionTwin {
  static constexpr ScenarioInfo kInfo{"attention_missing_before_fence",
                                      ScenarioKind::kBroken,
                                      "no tcgen05 fence before the arrival that hands P over",
                                      "TMEM_FENCE_MISSING",
                                      "attention"};
  template <Machine M, class Extents>
  using Kernel = AttentionTwinKernel<M, Extents, AttentionMissingBeforeFenceSteps<M, Extents>>;
};

}  // namespace warptwin::scenarios
