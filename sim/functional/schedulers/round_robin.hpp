/// Everyone in turn, in slot order: fair, and the same always.

#pragma once

#include "sim/functional/scheduler.hpp"

namespace warptwin::sim {

class RoundRobinScheduler : public Scheduler {
 public:
  AgentSlot pick(const ReadySet& ready, AgentSlot previous) override {
    return ready.next_after(previous);
  }
};

}  // namespace warptwin::sim
