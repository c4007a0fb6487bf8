#include "sim/functional/schedulers/pct.hpp"

#include <algorithm>

namespace warptwin::sim {

PctScheduler::PctScheduler(std::uint64_t seed, std::uint32_t depth, std::uint64_t length)
    : random_{seed} {
  for (std::uint32_t i = 1; i < depth; ++i) {
    changes_.push_back(length == 0 ? 0 : random_() % length);
  }
  std::sort(changes_.begin(), changes_.end(), std::greater<>{});
}

std::int64_t& PctScheduler::priority_of(AgentSlot slot) {
  const std::uint32_t number = slot.number();
  if (number >= priorities_.size()) {
    priorities_.resize(number + std::size_t{1}, 0);
  }
  if (priorities_[number] == 0) {
    priorities_[number] = static_cast<std::int64_t>(random_() >> 2) + 1;
  }
  return priorities_[number];
}

AgentSlot PctScheduler::pick(const ReadySet& ready, AgentSlot) {
  AgentSlot best = ready[0];
  for (std::uint32_t i = 1; i < ready.size(); ++i) {
    // Both priorities are drawn before they are compared: drawing may move the table.
    const std::int64_t candidate = priority_of(ready[i]);
    if (candidate > priority_of(best)) {
      best = ready[i];
    }
  }
  while (!changes_.empty() && changes_.back() <= step_) {
    changes_.pop_back();
    yielded(best);
  }
  ++step_;
  return best;
}

void PctScheduler::yielded(AgentSlot slot) {
  priority_of(slot) = --lowest_;
}

}  // namespace warptwin::sim
