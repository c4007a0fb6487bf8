/// Some warps act whenever they can; the others in turn, from the first on or from the last. What
/// those warps look at is looked at as early as it can be.

#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "sim/functional/scheduler.hpp"
#include "sim/model/gpu.hpp"

namespace warptwin::sim {

class AheadScheduler : public Scheduler {
 public:
  /// `warps` are numbered in the grid.
  AheadScheduler(const Gpu& gpu, std::vector<std::uint32_t> warps, bool from_the_last)
      : gpu_{gpu}, warps_{std::move(warps)}, from_the_last_{from_the_last} {}

  AgentSlot pick(const ReadySet& ready, AgentSlot previous) override {
    const bool yielded = std::exchange(yielded_, false);
    AgentSlot first = AgentSlot::nobody();
    AgentSlot below = AgentSlot::nobody();  // the last one before `previous`
    AgentSlot last;
    for (std::uint32_t i = 0; i < ready.size(); ++i) {
      const AgentSlot slot = ready[i];
      if (gpu_.agents().is_warp(slot) && !(yielded && slot == previous) &&
          std::find(warps_.begin(),
                    warps_.end(),
                    gpu_.warps()[gpu_.agents().warp_of(slot)].number) != warps_.end()) {
        first = std::min(first, slot);
      }
      last = std::max(last, slot);
      if (slot < previous && (below == AgentSlot::nobody() || slot > below)) {
        below = slot;
      }
    }
    if (first != AgentSlot::nobody()) {
      return first;
    }
    if (!yielded && ready.holds(previous)) {
      return previous;
    }
    return !from_the_last_                ? ready.next_after(previous)
           : below != AgentSlot::nobody() ? below
                                          : last;
  }
  void yielded(AgentSlot) override { yielded_ = true; }

 private:
  const Gpu& gpu_;
  std::vector<std::uint32_t> warps_;
  bool from_the_last_;
  bool yielded_ = false;
};

}  // namespace warptwin::sim
