/// How a run ended, for whoever ran it: engines, detectors, reports, traces.

#pragma once

#include <cstdint>

namespace warptwin::sim {

enum class Ending : std::uint8_t {
  kDone,       // every warp reached its end
  kDeadlock,   // nobody can act, and some warp is not done
  kLivelock,   // agents act, and nothing changes any more
  kTrapped,    // an operation hardware would not survive
  kStepBound,  // the bound on steps was reached
  kRefused,    // behind a defect, what comes next cannot be executed
};

/// One word, as traces keep it: "done", "deadlock", "livelock", "trapped", "stopped", "refused".
const char* name_of(Ending ending);

/// What a report says: "every warp reached its end".
const char* sentence_of(Ending ending);

}  // namespace warptwin::sim
