#include "sim/timed/turns.hpp"

namespace warptwin::sim {

namespace {

// Who is first of those who ask in one tick: each as often as any other. Were it always the same,
// the half of L2 with the lower numbers would fetch for both.
std::uint32_t place_at(Ticks when, std::uint32_t number) {
  return number ^ static_cast<std::uint32_t>(when * 0x9E3779B97F4A7C15U >> 32U);
}

}  // namespace

Turns::Turns(const sc_core::sc_module_name& name) : sc_module{name} {
  SC_HAS_PROCESS(Turns);
  SC_METHOD(take);
  sensitive << all_have_run_;
  dont_initialize();
}

// All timelines run their windows in one delta cycle; turns are taken in the next.
void Turns::ask(Timeline& timeline, Asker& asker, Ticks soonest) {
  const bool pauses = timeline.runs_at(soonest);
  if (pauses) {
    timeline.pause();
  }
  if (turns_.empty()) {
    all_have_run_.notify(sc_core::SC_ZERO_TIME);
  }
  const std::uint32_t place = place_at(now(), timeline.number());
  turns_.push_back({now(), place, ++serial_, &timeline, &asker, pauses});
  std::push_heap(turns_.begin(), turns_.end());
}

// A timeline that goes on asks for no time before the turn it was given.
void Turns::take() {
  while (!turns_.empty()) {
    std::pop_heap(turns_.begin(), turns_.end());
    const Turn turn = turns_.back();
    turns_.pop_back();
    set_now(turn.when);
    turn.asker->turn();
    if (turn.pauses) {
      turn.timeline->resume();
    }
  }
}

}  // namespace warptwin::sim
