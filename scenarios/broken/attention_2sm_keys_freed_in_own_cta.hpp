/// Broken: the MMA warp frees a stage of keys by a commit to its own CTA.
///
/// The stage was filled by both: the peer's load never learns that its half has been read.
///
/// Expected: DEADLOCK. Twin: attention_2sm.

#pragma once

#include "scenarios/broken/attention_2sm_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct Attention2smKeysFreedInOwnCtaKernel : AttentionKernel<M, Extents> {
  using Base = AttentionKernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;

  struct Mma : Base::Mma {
    using Base::Mma::Mma;
    constexpr void free_keys(auto&& keys) {
      const Mbarrier empty = keys.mbar();
      std::move(keys).release_without_signal();
      this->machine.tcgen05_commit(CtaGroup::kTwo, empty);  // the fault: no multicast to the pair
    }
  };

  static constexpr void mma(M& machine, const Problem& problem, const Storage& smem) {
    Base::template mma_by<Mma>(machine, problem, smem);
  }
};

struct Attention2smKeysFreedInOwnCta : Attention2smTwin {
  static constexpr ScenarioInfo kInfo{"attention_2sm_keys_freed_in_own_cta",
                                      ScenarioKind::kBroken,
                                      "a stage of keys is freed in the CTA of the leader alone",
                                      "DEADLOCK",
                                      "attention_2sm"};
  template <Machine M, class Extents>
  using Kernel = Attention2smKeysFreedInOwnCtaKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
