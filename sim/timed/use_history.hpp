/// How busy a kind of unit was over time: ticks of use in buckets of equal width. The width doubles
/// whenever the run outgrows them, so that any run takes the same memory.

#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "sim/timed/ticks.hpp"

namespace warptwin::sim {

class UseHistory {
 public:
  static constexpr std::size_t kBuckets = 512;

  /// One unit of the kind works from `begin` to `end`.
  void add(Ticks begin, Ticks end) {
    while (end > width_ * kBuckets) {
      widen();
    }
    while (begin < end) {
      const std::size_t bucket = begin / width_;
      const Ticks until = std::min<Ticks>(end, (bucket + 1) * width_);
      busy_[bucket] += until - begin;
      begin = until;
    }
  }
  void widen() {
    for (std::size_t i = 0; i < kBuckets / 2; ++i) {
      busy_[i] = busy_[2 * i] + busy_[2 * i + 1];
    }
    std::fill(busy_.begin() + kBuckets / 2, busy_.end(), 0);
    width_ *= 2;
  }

  Ticks width() const { return width_; }
  /// Of all units of the kind together.
  Ticks busy(std::size_t bucket) const { return busy_[bucket]; }

 private:
  Ticks width_ = 4 * kTicksPerCycle;
  std::vector<Ticks> busy_ = std::vector<Ticks>(kBuckets);
};

}  // namespace warptwin::sim
