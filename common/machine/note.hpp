/// What the protocol layer tells a checker beyond its machine operations. On a GPU a note is
/// nothing.

#pragma once

#include <cstdint>

#include "common/machine/types.hpp"

namespace warptwin {

/// A step in the life of a pipeline stage, as one role sees it.
enum class StageStep : std::uint8_t {
  kProducerAcquired,  // the empty barrier was waited for
  kProducerReleased,  // the producer moved on; its full barrier will complete by what it issued
  kConsumerAcquired,  // the full barrier was waited for
  kConsumerReleased,  // the consumer moved on
  kDropped,           // a linear handle went out of scope without `release`
  kReleasedTwice,     // a handle was released that had been released before
};

/// Which stage, of which ring, in which lap. `full` is the ring's first full barrier: it names it.
struct StageNote {
  StageStep step = StageStep::kProducerAcquired;  // what the role did
  Mbarrier full{};                                // the ring's first full barrier
  std::uint32_t stages = 0;                       // of the ring
  std::uint32_t index = 0;                        // the stage: 0 to stages - 1
  std::uint32_t lap = 0;                          // how often this role has been round the ring
  SourceSite site{};  // of the acquire, also in the notes that follow it
};

}  // namespace warptwin
