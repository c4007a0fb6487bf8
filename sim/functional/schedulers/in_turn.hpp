/// Each agent goes on until it cannot: few changes of agent, and the same always.

#pragma once

#include "sim/functional/scheduler.hpp"

namespace warptwin::sim {

class InTurnScheduler : public Scheduler {
 public:
  AgentSlot pick(const ReadySet& ready, AgentSlot previous) override {
    const bool goes_on = !yielded_ && ready.holds(previous);
    yielded_ = false;
    return goes_on ? previous : ready.next_after(previous);
  }
  void yielded(AgentSlot) override { yielded_ = true; }

 private:
  bool yielded_ = false;
};

}  // namespace warptwin::sim
