#include "sim/model/ending.hpp"

namespace warptwin::sim {

const char* name_of(Ending ending) {
  switch (ending) {
    case Ending::kDone:
      return "done";
    case Ending::kDeadlock:
      return "deadlock";
    case Ending::kLivelock:
      return "livelock";
    case Ending::kTrapped:
      return "trapped";
    case Ending::kStepBound:
      return "stopped";
    case Ending::kRefused:
      return "refused";
  }
  return "";
}

const char* sentence_of(Ending ending) {
  switch (ending) {
    case Ending::kDone:
      return "every warp reached its end";
    case Ending::kDeadlock:
      return "deadlock";
    case Ending::kLivelock:
      return "livelock";
    case Ending::kTrapped:
      return "an operation that hardware would not survive";
    case Ending::kStepBound:
      return "the bound on steps was reached";
    case Ending::kRefused:
      return "behind a defect, what comes next cannot be executed";
  }
  return "";
}

}  // namespace warptwin::sim
