#include "sim/timed/timeline.hpp"

#include "common/machine/assert.hpp"

#include "sim/model/invariant.hpp"

namespace warptwin::sim {

namespace {

// When SystemC is: where a window begins.
Ticks window_begun() {
  return sc_core::sc_time_stamp().value();
}

}  // namespace

Timeline::Timeline(const sc_core::sc_module_name& name, std::uint32_t number, Ticks window)
    : sc_module{name}, number_{number}, window_{window} {
  WARPTWIN_ASSERT(window > 0);
  SC_HAS_PROCESS(Timeline);
  SC_METHOD(run_window);
  sensitive << window_begins_;
  dont_initialize();
}

void Timeline::at(Ticks when, Callee& who, std::uint32_t what, std::uint64_t ticket) {
  WARPTWIN_INVARIANT(kClocksOnlyGrow, when >= latest_);
  const Entry entry{when, ticket, &who, what};
  entries_.insert(std::upper_bound(entries_.begin(), entries_.end(), entry), entry);
  if (!running_ && pauses_ == 0 && entries_.back().ticket == ticket) {
    notify();
  }
}

// An earlier notification replaces a later one.
void Timeline::notify() {
  const Ticks begins = entries_.back().when / window_ * window_;
  const Ticks present = window_begun();
  window_begins_.notify(time_of(begins > present ? begins - present : 0));
}

void Timeline::run_window() {
  horizon_ = window_begun() + window_;
  run();
}

void Timeline::resume() {
  if (--pauses_ == 0) {
    run();
  }
}

void Timeline::run() {
  running_ = true;
  while (pauses_ == 0 && !entries_.empty() && entries_.back().when < horizon_) {
    const Entry entry = entries_.back();
    entries_.pop_back();
    set_now(entry.when);
    entry.who->call(entry.what);
    latest_ = now();
  }
  running_ = false;
  if (pauses_ == 0 && !entries_.empty()) {
    notify();
  }
}

}  // namespace warptwin::sim
