/// Each agent goes on until it cannot: few changes of agent, and the same always.

#pragma once

#include "sim/functional/scheduler.hpp"

namespace warptwin::sim {

class InTurnScheduler : public Scheduler {
 public:
  Slot pick(const ReadySet& ready, Slot previous) override {
    const bool goes_on = !yielded_ && previous < ready.slots() && ready.contains(previous);
    yielded_ = false;
    return goes_on ? previous : ready.next_after(previous);
  }
  void yielded(Slot) override { yielded_ = true; }

 private:
  bool yielded_ = false;
};

}  // namespace warptwin::sim
