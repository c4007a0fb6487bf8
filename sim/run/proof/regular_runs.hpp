/// Finds out from which size on a kernel's runs are regular: the run of each size is that of
/// `period` sizes fewer with pieces inserted, and the state of the conditions before and after each
/// piece is the same but for a shift. A longer run repeats the piece, and the conditions hold in it
/// because they hold in the piece and in what comes after (docs/proof.md).

#pragma once

#include <cstdint>
#include <vector>

#include "sim/prove/run_order.hpp"

namespace warptwin::sim {

/// What the CTA groups of one run did.
using Streams = std::vector<RunOrder::Stream>;

/// Runs of the sizes 1, 2, 3, ... Those that were added before are kept.
class RegularRuns {
 public:
  /// Adds the run of the next size, which with `may_stand` need not do more than a smaller one.
  /// True once all sizes beyond do what one of these does, but for repeated pieces.
  bool add(Streams streams, bool may_stand = false);

  /// After `add` was true: whether `streams`, the run of a larger size, is what the runs so far
  /// with their pieces repeated make. Further groups have to do what one of these does.
  bool predicts(const Streams& streams, std::uint32_t size) const;

  /// The same, but that the pieces may differ, each between two visits to one state: what stands in
  /// them may be data of the round.
  bool prolongs(const Streams& streams, std::uint32_t size) const;

  std::uint32_t period() const { return period_; }
  /// The first size of the regular part.
  std::uint32_t first() const { return first_; }

 private:
  std::uint32_t like(std::uint32_t size) const;

  std::vector<Streams> runs_{1};               // by size
  std::vector<std::uint32_t> regular_for_{1};  // by period: runs in a row
  std::uint32_t period_ = 0;
  std::uint32_t first_ = 0;
};

}  // namespace warptwin::sim
