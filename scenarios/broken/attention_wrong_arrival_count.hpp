/// Broken: `scores.replaced` waits for the lanes of both softmax warpgroups, not of one.
///
/// Each tile is one warpgroup's: half of the arrivals never come.
///
/// Expected: PIPELINE_COUNT_MISMATCH. Twin: attention.

#pragma once

#include "scenarios/broken/attention_twin.hpp"

namespace warptwin::scenarios {

template <class Extents>
struct AttentionWrongArrivalCountStorage : AttentionStorage<Extents> {
  constexpr AttentionWrongArrivalCountStorage(auto& layout, const Extents& e)
      : AttentionStorage<Extents>{layout, e} {
    this->scores.replaced_arrivals = kAttentionRoles.lanes(Role::kSoftmax);  // the fault
  }
};

template <Machine M, class Extents>
struct AttentionWrongArrivalCountKernel : AttentionKernel<M, Extents> {
  using Base = AttentionKernel<M, Extents>;
  using Storage = AttentionWrongArrivalCountStorage<Extents>;
};

struct AttentionWrongArrivalCount : AttentionTwin {
  static constexpr ScenarioInfo kInfo{"attention_wrong_arrival_count",
                                      ScenarioKind::kBroken,
                                      "a barrier of one warpgroup is initialised for two",
                                      "PIPELINE_COUNT_MISMATCH",
                                      "attention"};
  template <Machine M, class Extents>
  using Kernel = AttentionWrongArrivalCountKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
