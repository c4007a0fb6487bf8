/// Broken: softmax begins each row's maximum at minus infinity, as a key's that is not seen.
///
/// The window of a tile's last row begins behind the first tile of keys. There the row's maximum
/// stays infinite, and the difference of a score to it is no number: the row's sum is lost.
///
/// Expected: RESULT_WRONG. Twin: attention.

#pragma once

#include "scenarios/broken/attention_twin.hpp"

namespace warptwin::scenarios {

template <Machine M>
struct InfiniteMaxima : OnlineSoftmax<M> {
  using OnlineSoftmax<M>::OnlineSoftmax;
  constexpr void reset() {
    OnlineSoftmax<M>::reset();
    this->maximum_.fill(OnlineSoftmax<M>::kNoScore);  // The fault: kLowest is meant.
  }
};

template <Machine M, class Extents>
struct AttentionWindowMaximaBeginInfiniteKernel : AttentionKernel<M, Extents> {
  using Base = AttentionKernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;

  static constexpr void softmax(M& machine, const Problem& problem, const Storage& smem) {
    Base::template softmax_by<InfiniteMaxima<M>>(machine, problem, smem);
  }
};

struct AttentionWindowMaximaBeginInfinite : WindowAttentionTwin {
  static constexpr ScenarioInfo kInfo{"attention_window_maxima_begin_infinite",
                                      ScenarioKind::kBroken,
                                      "rows whose window begins later have no finite maximum",
                                      "RESULT_WRONG",
                                      "attention"};
  template <Machine M, class Extents>
  using Kernel = AttentionWindowMaximaBeginInfiniteKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
