/// Broken: the MMA warp frees a stage of keys when it has issued the MMAs that read them.
///
/// They have not read them yet: the next values may come over them. (Of the values it would be
/// right: the wait for scores.empty has seen their MMAs complete.)
///
/// Expected: SMEM_WAR_ASYNC. Twin: attention.

#pragma once

#include "scenarios/broken/attention_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct AttentionKeysReleasedAtIssueKernel : AttentionKernel<M, Extents> {
  using Base = AttentionKernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;

  struct Mma : Base::Mma {
    using Base::Mma::Mma;
    constexpr void free_keys(auto&& keys) {
      const Mbarrier empty = keys.mbar();
      std::move(keys).release_without_signal();
      this->machine.elect_one(
          [&] { this->machine.mbarrier_arrive(empty); });  // the fault: no commit
    }
  };

  static constexpr void mma(M& machine, const Problem& problem, const Storage& smem) {
    Base::template mma_by<Mma>(machine, problem, smem);
  }
};

struct AttentionKeysReleasedAtIssue : AttentionTwin {
  static constexpr ScenarioInfo kInfo{"attention_keys_released_at_issue",
                                      ScenarioKind::kBroken,
                                      "a stage of keys is freed at issue, not at completion",
                                      "SMEM_WAR_ASYNC",
                                      "attention"};
  template <Machine M, class Extents>
  using Kernel = AttentionKeysReleasedAtIssueKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
