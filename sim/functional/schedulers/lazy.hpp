/// Agents from a slot on act only when nobody below can: with the first asynchronous slot, every
/// copy,
/// commit and remote arrival is as late as it can be.

#pragma once

#include "sim/functional/scheduler.hpp"

namespace warptwin::sim {

class LazyScheduler : public Scheduler {
 public:
  explicit LazyScheduler(AgentSlot first) : first_{first} {}
  AgentSlot pick(const ReadySet& ready, AgentSlot previous) override {
    const AgentSlot next = ready.next_after(previous);
    // Past the last early slot the search starts again from the lowest.
    return next < first_ ? next : ready.first();
  }

 private:
  AgentSlot first_;
};

}  // namespace warptwin::sim
