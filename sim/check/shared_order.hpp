/// What the order of events says of two accesses to shared memory: whether they are in order, for
/// each lane, and through a fence between the proxies.

#pragma once

#include <cstddef>
#include <cstdint>

#include "sim/check/known_accesses.hpp"
#include "sim/check/order.hpp"

namespace warptwin::sim {

/// All questions are of `event`, which makes the access `second`, and of one that came before.
class SharedOrder {
 public:
  using Known = KnownAccesses;  // of one CTA

  /// `order` outlives it.
  explicit SharedOrder(Order& order) : order_{order} {}

  /// Whether the access is over by what warp `second` knows of itself.
  bool ordered(const SharedAccess& first, std::uint32_t second);
  /// Whether `known[first]` is in order through accesses each of which is after the one before, and
  /// of which the last is itself ordered before: of a copy whose tile an MMA has read, and the
  /// commit of that MMA waited for.
  bool ordered_through(const Event& event,
                       const Known& known,
                       std::size_t first,
                       const SharedAccess& second) {
    return ordered_through(event, known, first, second, kStepsMax);
  }
  /// Whether an access behind `known[first]` that is itself ordered before has been reported.
  bool reported_through(const Event& event,
                        const Known& known,
                        std::size_t first,
                        const SharedAccess& second);
  /// Whether a proxy fence covers the first, which is in order with the second.
  bool fenced(const Event& event, const SharedAccess& first, const SharedAccess& second) const;
  /// Whether an operation of the async proxy on the same bytes, which is over, has had a fence that
  /// covers `known[first]`: its own, or that of a later access by the same lanes.
  bool fenced_through(const Event& event,
                      const Known& known,
                      std::size_t first,
                      const SharedAccess& second);
  /// Whether each lane that executed the first is in order with the second; of two accesses in the
  /// generic proxy by one warp, lane_races judges that.
  bool lanes_ordered(const Event& event,
                     const SharedAccess& first,
                     const SharedAccess& second) const;
  /// Where lanes of one warp write what other lanes have written, in no order, both stand.
  bool takes_its_place(const SharedAccess& first, const SharedAccess& second) const;

 private:
  static constexpr std::uint32_t kStepsMax = 3;

  bool counted(const SharedAccess& first, std::uint32_t second) const;
  bool ordered_itself(const Event& event, const SharedAccess& first, const SharedAccess& second);
  bool ordered_through(const Event& event,
                       const Known& known,
                       std::size_t first,
                       const SharedAccess& second,
                       std::uint32_t steps);
  bool each_lane_after(const SharedAccess& first, const Event& event) const;

  Order& order_;
};

}  // namespace warptwin::sim
