/// Broken: softmax hands P to the MMA before tcgen05.wait::st.
///
/// The MMA multiplies what of S is still there.
///
/// Expected: TMEM_ST_NO_WAIT. Twin: attention.

#pragma once

#include "scenarios/broken/attention_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct AttentionMissingWaitStSteps : AttentionSoftmaxSteps<M, Extents> {
  using Base = AttentionSoftmaxSteps<M, Extents>;
  using Base::Base;

  constexpr void load(const auto& stage) {
    for (std::uint32_t i = 0; i < 4; ++i) {
      this->machine.tcgen05_ld_32x32b(s[i], stage.own_rows().at_column(32 * i));
      this->machine.tcgen05_wait_ld(s[i]);
    }
  }
  constexpr typename Base::Factors raise() { return this->online.raise(s[0]); }
  constexpr void weigh(const auto& stage) {
    for (std::uint32_t i = 0; i < 4; ++i) {
      this->machine.tcgen05_st_32x32b(stage.own_rows().at_column(16 * i),
                                      s[i].template packed<bf16>());
    }
    // The fault: machine.tcgen05_wait_st() is missing.
  }

  typename M::template Fragment<32> s[4];
};

struct AttentionMissingWaitSt : AttentionTwin {
  static constexpr ScenarioInfo kInfo{"attention_missing_wait_st",
                                      ScenarioKind::kBroken,
                                      "probabilities are handed over before tcgen05.wait::st",
                                      "TMEM_ST_NO_WAIT",
                                      "attention"};
  template <Machine M, class Extents>
  using Kernel = AttentionTwinKernel<M, Extents, AttentionMissingWaitStSteps<M, Extents>>;
};

}  // namespace warptwin::scenarios
