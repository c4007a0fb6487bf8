/// The choices of an earlier run, one by one, and round robin after the last.

#pragma once

#include <vector>

#include "sim/functional/scheduler.hpp"

namespace warptwin::sim {

class ReplayScheduler : public Scheduler {
 public:
  explicit ReplayScheduler(std::vector<Slot> choices) : choices_{std::move(choices)} {}
  Slot pick(const ReadySet& ready, Slot previous) override;
  /// The first step whose choice could not act; the number of choices when all could.
  std::size_t followed() const { return diverged_at_; }

 private:
  std::vector<Slot> choices_;
  std::size_t next_ = 0;
  std::size_t diverged_at_ = 0;
};

}  // namespace warptwin::sim
