/// Broken: softmax works on scores that tcgen05.ld has not brought yet, and stores P over them.
///
/// What the registers held before is weighed, now and then; P may overwrite scores on their way.
///
/// Expected: TMEM_WAR. Twin: attention.

#pragma once

#include "scenarios/broken/attention_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct AttentionMissingWaitLdSteps : AttentionSoftmaxSteps<M, Extents> {
  using Base = AttentionSoftmaxSteps<M, Extents>;
  using Base::Base;

  constexpr void load(const auto& stage) {
    this->machine.tcgen05_ld_32x32b(s, stage.own_rows());
    // The fault: machine.tcgen05_wait_ld(s) is missing. (One load of four shows it.)
  }
  constexpr typename Base::Factors raise() { return this->online.raise(s); }
  constexpr void weigh(const auto& stage) {
    this->online.weigh(s);
    this->machine.tcgen05_st_32x32b(stage.own_rows(), s.template packed<bf16>());
    this->machine.tcgen05_wait_st();
  }

  typename M::template Fragment<32> s;
};

struct AttentionMissingWaitLd : AttentionTwin {
  static constexpr ScenarioInfo kInfo{"attention_missing_wait_ld",
                                      ScenarioKind::kBroken,
                                      "scores are used and overwritten before tcgen05.wait::ld",
                                      "TMEM_WAR",
                                      "attention"};
  template <Machine M, class Extents>
  using Kernel = AttentionTwinKernel<M, Extents, AttentionMissingWaitLdSteps<M, Extents>>;
};

}  // namespace warptwin::scenarios
