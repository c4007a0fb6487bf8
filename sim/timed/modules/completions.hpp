/// Whom a unit tells that an asynchronous agent has come to its next step.

#pragma once

#include "sim/model/ready_set.hpp"

namespace warptwin::sim {

class Completions {
 public:
  virtual ~Completions() = default;
  /// It is time for one step of the agent `slot`.
  virtual void step(Slot slot) = 0;
};

}  // namespace warptwin::sim
