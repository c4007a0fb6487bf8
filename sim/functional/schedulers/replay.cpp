#include "sim/functional/schedulers/replay.hpp"

namespace warptwin::sim {

AgentSlot ReplayScheduler::pick(const ReadySet& ready, AgentSlot previous) {
  if (next_ < choices_.size()) {
    const AgentSlot choice = choices_[next_++];
    if (ready.holds(choice)) {
      return choice;
    }
    choices_.clear();  // the run is another one from here on
  }
  return ready.next_after(previous);
}

}  // namespace warptwin::sim
