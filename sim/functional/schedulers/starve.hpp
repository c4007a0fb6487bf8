/// One agent acts only when nobody else can; the others in turn. One run for each agent finds what
/// needs somebody to be late by a whole ring.

#pragma once

#include "sim/functional/scheduler.hpp"

namespace warptwin::sim {

class StarveScheduler : public Scheduler {
 public:
  explicit StarveScheduler(AgentSlot victim) : victim_{victim} {}
  AgentSlot pick(const ReadySet& ready, AgentSlot previous) override {
    const AgentSlot next = ready.next_after(previous);
    return next == victim_ ? ready.next_after(victim_) : next;
  }

 private:
  AgentSlot victim_;
};

}  // namespace warptwin::sim
