/// Broken: the next S is computed in the columns of P without a wait for the MMA that reads P.
///
/// Both MMAs are of one thread, and today they execute in order; the manual promises that for an
/// accumulator only, not for an operand that becomes one.
///
/// Expected: TMEM_PIPE_ORDER. Twin: attention.

#pragma once

#include "scenarios/broken/attention_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct AttentionScoresBeforeWeightedKernel : AttentionKernel<M, Extents> {
  using Base = AttentionKernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;

  struct Mma : Base::Mma {
    using Base::Mma::Mma;
    constexpr void score(std::uint32_t t, std::uint32_t keys) {
      // The fault: no wait for scores.empty.
      multiply_tiles(this->machine,
                     CtaGroup::kOne,
                     this->tmem.stage(this->smem.scores.config, t).address(),
                     this->smem.queries(t).panel(0),
                     this->smem.keys(keys).panel(0),
                     Accumulate::kNo,
                     SourceSite::current());
      this->machine.tcgen05_commit(CtaGroup::kOne, this->smem.scores.barriers.full[t]);
    }
    constexpr void drain() {}  // no stage of scores is known to have been taken
  };

  static constexpr void mma(M& machine, const Problem& problem, const Storage& smem) {
    Base::template mma_by<Mma>(machine, problem, smem);
  }
};

struct AttentionScoresBeforeWeighted : AttentionTwin {
  static constexpr ScenarioInfo kInfo{"attention_scores_before_weighted",
                                      ScenarioKind::kBroken,
                                      "the next scores are computed while P is still read",
                                      "TMEM_PIPE_ORDER",
                                      "attention"};
  template <Machine M, class Extents>
  using Kernel = AttentionScoresBeforeWeightedKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
