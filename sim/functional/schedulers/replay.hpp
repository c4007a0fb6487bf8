/// The choices of an earlier run, one by one, and round robin after the last.

#pragma once

#include <vector>

#include "sim/functional/scheduler.hpp"

namespace warptwin::sim {

class ReplayScheduler : public Scheduler {
 public:
  explicit ReplayScheduler(std::vector<Slot> choices) : choices_{std::move(choices)} {}
  Slot pick(const ReadySet& ready, Slot previous) override;

 private:
  std::vector<Slot> choices_;
  std::size_t next_ = 0;
};

}  // namespace warptwin::sim
