/// Broken: softmax asks for more registers than the other roles give back.
///
/// 8 warps of 200, 4 of 88 and 4 of 40 are 64 more than the 16 of 128 there are: the last warp
/// waits for ever.
///
/// Expected: SETMAXNREG_POOL. Twin: attention.

#pragma once

#include "scenarios/broken/attention_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct AttentionRegistersAbovePoolSteps : AttentionSoftmaxSteps<M, Extents> {
  using Base = AttentionSoftmaxSteps<M, Extents>;
  using Base::Base;

  static constexpr void take_registers(M& m) {
    m.template setmaxnreg_inc<kSoftmaxRegisters + 8>();  // the fault
  }
};

struct AttentionRegistersAbovePool : AttentionTwin {
  static constexpr ScenarioInfo kInfo{"attention_registers_above_pool",
                                      ScenarioKind::kBroken,
                                      "the roles share more registers than there are",
                                      "SETMAXNREG_POOL",
                                      "attention"};
  template <Machine M, class Extents>
  using Kernel = AttentionTwinKernel<M, Extents, AttentionRegistersAbovePoolSteps<M, Extents>>;
};

}  // namespace warptwin::scenarios
