/// The choices of an earlier run, one by one, and round robin after the last.

#pragma once

#include <vector>

#include "sim/functional/scheduler.hpp"

namespace warptwin::sim {

class ReplayScheduler : public Scheduler {
 public:
  explicit ReplayScheduler(std::vector<AgentSlot> choices) : choices_{std::move(choices)} {}
  AgentSlot pick(const ReadySet& ready, AgentSlot previous) override;

 private:
  std::vector<AgentSlot> choices_;
  std::size_t next_ = 0;
};

}  // namespace warptwin::sim
