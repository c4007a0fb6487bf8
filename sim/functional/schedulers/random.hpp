/// Anyone, with equal chance.

#pragma once

#include <random>

#include "sim/functional/scheduler.hpp"

namespace warptwin::sim {

class RandomScheduler : public Scheduler {
 public:
  explicit RandomScheduler(std::uint64_t seed) : random_{seed} {}
  AgentSlot pick(const ReadySet& ready, AgentSlot) override {
    // A product of 32-bit numbers, not std::uniform_int_distribution: that differs between
    // libraries.
    const std::uint64_t draw = random_() >> 32;
    return ready[static_cast<std::uint32_t>(draw * ready.size() >> 32)];
  }

 private:
  std::mt19937_64 random_;
};

}  // namespace warptwin::sim
