/// Who looks on while a run goes on, and whom the machine asks.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "sim/model/gpu.hpp"

namespace warptwin::sim {

/// Hands on the events of a run, in their order: to some as they come, to others some at a time.
/// What gets many in a row works on them while its instructions are in the cache. The machine's
/// questions are answered as if each event had been handed on at once.
class Watchers : public EventSink, public TryJudge, public LaneJudge {
 public:
  /// Sees each event before the machine goes on. Null: nobody.
  void add(EventSink* sink) { add_to(at_once_, sink); }
  /// Sees the events in batches: it must not look at the machine. Null: nobody.
  void add_late(EventSink* sink) { add_to(late_, sink); }
  /// Each is a sink that was added, or null; null answers nothing.
  void ask(const TryJudge* of_tries, const LaneJudge* of_lanes) {
    tries_ = of_tries;
    lanes_ = of_lanes;
  }

  void on_event(const Event& event) override {
    for (EventSink* sink : at_once_) {
      sink->on_event(event);
    }
    if (!late_.empty()) {
      events_[kept_++] = event;
      if (kept_ == kEventsMax) {
        flush();
      }
    }
  }
  bool certain(std::uint32_t warp,
               std::uint32_t lanes,
               std::uint32_t cta,
               std::uint32_t address,
               std::uint32_t phase) const override {
    flush();
    return tries_->certain(warp, lanes, cta, address, phase);
  }
  std::uint32_t now(std::uint32_t warp) const override {
    flush();
    return lanes_->now(warp);
  }
  bool knows(std::uint32_t warp,
             std::uint32_t lanes,
             std::uint32_t other,
             std::uint32_t time) const override {
    flush();
    return lanes_->knows(warp, lanes, other, time);
  }
  /// Hands on all that is kept. Called when the run is over.
  void flush() const {
    const std::span<const Event> kept{events_.data(), std::exchange(kept_, 0)};
    for (EventSink* sink : late_) {
      for (const Event& event : kept) {
        sink->on_event(event);
      }
    }
  }
  /// Null where nobody looks on, or nobody can answer.
  EventSink* sink() { return at_once_.empty() && late_.empty() ? nullptr : this; }
  const TryJudge* try_judge() const { return tries_ != nullptr ? this : nullptr; }
  const LaneJudge* lane_judge() const { return lanes_ != nullptr ? this : nullptr; }

 private:
  static void add_to(std::vector<EventSink*>& sinks, EventSink* sink) {
    if (sink != nullptr) {
      sinks.push_back(sink);
    }
  }

  // 17 KB of events: what reads them has the second-level cache for its own.
  static constexpr std::size_t kEventsMax = 128;
  std::vector<EventSink*> at_once_;
  std::vector<EventSink*> late_;
  const TryJudge* tries_ = nullptr;
  const LaneJudge* lanes_ = nullptr;
  std::array<Event, kEventsMax> events_;
  mutable std::size_t kept_ = 0;
};

}  // namespace warptwin::sim
