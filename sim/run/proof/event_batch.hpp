/// Events handed on in batches.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "sim/model/gpu.hpp"

namespace warptwin::sim {

/// Keeps the events of a run and hands them on some at a time, in their order: what sees them then
/// works on many in a row, and its instructions are still in the cache at the next. Whoever asks
/// the judge is answered as if each event had been handed on at once.
class EventBatch : public EventSink, public TryJudge {
 public:
  /// `next` and `judge` outlive it.
  EventBatch(EventSink& next, const TryJudge& judge) : next_{next}, judge_{judge} {}

  void on_event(const Event& event) override {
    events_[kept_++] = event;
    if (kept_ == kEventsMax) {
      flush();
    }
  }
  bool certain(std::uint32_t warp,
               std::uint32_t lanes,
               std::uint32_t cta,
               std::uint32_t address,
               std::uint32_t phase) const override {
    flush();
    return judge_.certain(warp, lanes, cta, address, phase);
  }
  /// Hands on all that it keeps. Called when the run is over.
  void flush() const {
    const std::size_t kept = std::exchange(kept_, 0);
    for (std::size_t i = 0; i < kept; ++i) {
      next_.on_event(events_[i]);
    }
  }

 private:
  // So many that they and what looks at them fit into a first-level cache.
  static constexpr std::size_t kEventsMax = 32;
  EventSink& next_;
  const TryJudge& judge_;
  std::array<Event, kEventsMax> events_;
  mutable std::size_t kept_ = 0;
};

}  // namespace warptwin::sim
