/// Whom a unit tells that an asynchronous agent has come to its next step.

#pragma once

#include "sim/model/ready_set.hpp"
#include "sim/timed/causes.hpp"

namespace warptwin::sim {

class Completions {
 public:
  virtual ~Completions() = default;
  /// It is time for one step of the agent `slot`.
  virtual void step(AgentSlot slot) = 0;
};

/// The same, because of `cause`.
inline void step(Completions& completions, CauseLog* log, AgentSlot slot, Cause cause) {
  act(log, cause);
  completions.step(slot);
}

}  // namespace warptwin::sim
