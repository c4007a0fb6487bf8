/// Broken: the softmax of the leader says that P is stored in both CTAs.
///
/// Its arrivals count twice, and those of the peer are left out. The MMA reads the peer's half of P
/// from where its softmax may still be at work.
///
/// Expected: TMEM_ST_NO_WAIT. Twin: attention_2sm.

#pragma once

#include "scenarios/broken/attention_2sm_twin.hpp"
#include "scenarios/broken/attention_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct Attention2smLeaderSpeaksForPeerSteps : AttentionSoftmaxSteps<M, Extents> {
  using AttentionSoftmaxSteps<M, Extents>::AttentionSoftmaxSteps;
  constexpr void hand_over(auto&& stage) {
    const Mbarrier replaced = stage.mbar();
    std::move(stage).release_without_signal();
    this->machine.tcgen05_fence_before_thread_sync();
    if (this->smem.scores.cluster.is_leader(this->machine.cta_rank())) {
      this->machine.mbarrier_arrive(replaced, 2);  // the fault: one of each CTA
    }
  }
};

template <Machine M, class Extents>
using Attention2smLeaderSpeaksForPeerKernel =
    AttentionTwinKernel<M, Extents, Attention2smLeaderSpeaksForPeerSteps<M, Extents>>;

struct Attention2smLeaderSpeaksForPeer : Attention2smTwin {
  static constexpr ScenarioInfo kInfo{"attention_2sm_leader_speaks_for_peer",
                                      ScenarioKind::kBroken,
                                      "the softmax of the leader arrives for that of its peer",
                                      "TMEM_ST_NO_WAIT",
                                      "attention_2sm"};
  template <Machine M, class Extents>
  using Kernel = Attention2smLeaderSpeaksForPeerKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
