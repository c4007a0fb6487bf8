/// Softmax of rows whose columns come a tile at a time.

#pragma once

#include <limits>

#include "common/machine/machine.hpp"

namespace warptwin {

/// A warp's 32 rows, lane i holding row i: the largest score so far, and the sum of the weights
/// 2^(scale * (score - maximum)).
///
/// When the maximum grows, what was summed up before shrinks by a factor. Growth of `slack` or
/// less, in powers of two, is let pass: weights are then up to 2^slack, and nothing has to shrink.
///
/// Participants: every operation is the whole warp's. Blocks: never.
/// Requires:     a score in every row of one of the tiles. Before a row's first one its weights are
///               0, and so is the factor that takes the first one in.
/// Source:       Milakov and Gimelshein, arXiv 1805.02867; the slack: FlashAttention-4.
template <Machine M>
class OnlineSoftmax {
 public:
  /// One value for each row.
  using Values = typename M::template Fragment<1>;
  /// The score of what is not there.
  static constexpr float kNoScore = -std::numeric_limits<float>::infinity();
  /// The maximum of no scores. It is finite: two infinities have no difference.
  static constexpr float kLowest = std::numeric_limits<float>::lowest();

  /// New rows, with weights of 2^(scale * (score - maximum)): `scale` is what scores are multiplied
  /// by, times log2(e). `slack` is 0 or more, in powers of two.
  constexpr OnlineSoftmax(float scale, float slack) : scale_{scale}, slack_{slack} { reset(); }

  /// Begins new rows.
  constexpr void reset() {
    maximum_.fill(kLowest);
    sum_.fill(0.0F);
  }

  /// Takes the scores' maxima in; returns what earlier sums have to be multiplied by.
  template <class Scores>
  constexpr Values raise(Scores& scores) {
    Values factor = maximum_;
    Values highest = maximum_;
    scores.fold_into(highest, [](float a, float b) { return a < b ? b : a; });
    maximum_.combine(highest, [scale = scale_, slack = slack_](float before, float now) {
      return (now - before) * scale > slack ? now : before;
    });
    factor.combine(maximum_,
                   [scale = scale_](float before, float now) { return (before - now) * scale; });
    factor.exp2();
    sum_.combine(factor, [](float sum, float by) { return sum * by; });
    return factor;
  }

  /// Replaces the scores by their weights, and adds these up.
  template <class Scores>
  constexpr void weigh(Scores& scores) {
    scores.combine_rows(maximum_, [scale = scale_](float score, float maximum) {
      return (score - maximum) * scale;
    });
    scores.exp2();
    scores.fold_into(sum_, [](float sum, float weight) { return sum + weight; });
  }

  /// What the weighted sums have to be multiplied by in the end: 1 / sum of the weights.
  constexpr Values inverse_sum() const {
    Values inverse = sum_;
    inverse.transform([](float sum) { return 1.0F / sum; });
    return inverse;
  }

 protected:
  /// What scores are multiplied by, in powers of two.
  float scale_;
  /// Growth of a maximum that is let pass, in powers of two.
  float slack_;
  /// What the weights of each row are relative to.
  Values maximum_;
  /// The sum of each row's weights.
  Values sum_;
};

}  // namespace warptwin
