/// Broken: softmax writes the next factors without waiting until correction has read the last.
///
/// With one slot a tile, O shrinks by a factor that was meant for the next tile of keys.
///
/// Expected: SMEM_RACE. Twin: attention.

#pragma once

#include "scenarios/broken/attention_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct AttentionStatsOverwrittenSteps : AttentionSoftmaxSteps<M, Extents> {
  using Base = AttentionSoftmaxSteps<M, Extents>;
  using Base::Base;

  constexpr void send(const typename Base::Factors& factors) {
    // The fault: stats.wait_consumer() is missing.
    const std::uint32_t slot = this->stats.producer_stage();
    this->machine.st_shared(this->smem.factors(slot), this->row, 0, factors);
    this->machine.mbarrier_arrive(this->stats.producer_mbar(slot));
    this->stats.producer_step();
  }
};

struct AttentionStatsOverwritten : AttentionTwin {
  static constexpr ScenarioInfo kInfo{"attention_stats_overwritten",
                                      ScenarioKind::kBroken,
                                      "the slot of the factors has no back-pressure",
                                      "SMEM_RACE",
                                      "attention"};
  template <Machine M, class Extents>
  using Kernel = AttentionTwinKernel<M, Extents, AttentionStatsOverwrittenSteps<M, Extents>>;
};

}  // namespace warptwin::scenarios
