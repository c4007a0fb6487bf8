#include "sim/functional/schedulers/replay.hpp"

namespace warptwin::sim {

Slot ReplayScheduler::pick(const ReadySet& ready, Slot previous) {
  if (next_ < choices_.size()) {
    const Slot choice = choices_[next_++];
    if (choice < ready.slots() && ready.contains(choice)) {
      return choice;
    }
    choices_.clear();  // the run is another one from here on
  }
  return ready.next_after(previous);
}

}  // namespace warptwin::sim
