/// Broken: softmax stores its weights as e5m2, and the MMA takes them for e4m3.
///
/// Both are bytes: every barrier is right, and so is every place.
///
/// Expected: RESULT_WRONG. Twin: attention_e4m3.

#pragma once

#include "common/kernel/parameter_table.hpp"

#include "scenarios/attention_e4m3.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct AttentionE4m3WeightsAsE5m2Kernel : AttentionE4m3::Kernel<M, Extents> {
  using Base = AttentionE4m3::Kernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;

  static constexpr void softmax(M& machine, const Problem& problem, const Storage& smem) {
    // The fault: the type is e4m3.
    Base::template softmax_by<OnlineSoftmax<M>, f8e5m2>(machine, problem, smem);
  }
};

struct AttentionE4m3WeightsAsE5m2 : AttentionE4m3 {
  static constexpr ScenarioInfo kInfo{"attention_e4m3_weights_as_e5m2",
                                      ScenarioKind::kBroken,
                                      "weights are stored in another type of as many bits",
                                      "RESULT_WRONG",
                                      "attention_e4m3"};
  template <Machine M, class Extents>
  using Kernel = AttentionE4m3WeightsAsE5m2Kernel<M, Extents>;

  static std::span<const Parameter> parameters() {
    static const auto kParameters = extended(
        AttentionE4m3::parameters(),
        {{"q", "rows of Q and O", 256, 1, 1 << 20}, {"kv", "rows of K and V", 256, 1, 1 << 20}});
    return kParameters;
  }
};

}  // namespace warptwin::scenarios
