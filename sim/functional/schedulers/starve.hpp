/// One agent acts only when nobody else can; the others in turn. One run for each agent finds what
/// needs somebody to be late by a whole ring.

#pragma once

#include "sim/functional/scheduler.hpp"

namespace warptwin::sim {

class StarveScheduler : public Scheduler {
 public:
  explicit StarveScheduler(Slot victim) : victim_{victim} {}
  Slot pick(const ReadySet& ready, Slot previous) override {
    const Slot next = ready.next_after(previous);
    return next == victim_ ? ready.next_after(victim_) : next;
  }

 private:
  Slot victim_;
};

}  // namespace warptwin::sim
