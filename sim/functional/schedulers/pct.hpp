/// Probabilistic concurrency testing: random priorities, the highest goes; at `depth - 1` random
/// steps
/// the one that goes falls below all others. Finds a bug of depth d in n agents and k steps with
/// probability at least 1 / (n * k^(d-1)).
///
/// Source: Burckhardt, Kothari, Musuvathi, Nagarakatte, ASPLOS 2010.

#pragma once

#include <random>
#include <vector>

#include "sim/functional/scheduler.hpp"

namespace warptwin::sim {

class PctScheduler : public Scheduler {
 public:
  PctScheduler(std::uint64_t seed, std::uint32_t depth, std::uint64_t length);
  AgentSlot pick(const ReadySet& ready, AgentSlot previous) override;
  void yielded(AgentSlot slot) override;

 private:
  std::int64_t& priority_of(AgentSlot slot);

  std::mt19937_64 random_;
  std::vector<std::int64_t> priorities_;  // 0: not drawn yet
  std::vector<std::uint64_t> changes_;    // steps, descending
  std::uint64_t step_ = 0;
  std::int64_t lowest_ = 0;
};

}  // namespace warptwin::sim
