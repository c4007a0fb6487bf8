/// A server that works on one item at a time, in the order in which they ask: its state in closed
/// form, so that it needs no process of its own.

#pragma once

#include <algorithm>

#include "sim/timed/ticks.hpp"

namespace warptwin::sim {

class Port {
 public:
  /// Takes `service` from the moment the port is free, not before `from`. Returns its end.
  Ticks reserve(Ticks from, Ticks service) {
    free_ = std::max(from, free_) + service;
    busy_ += service;
    return free_;
  }
  /// The same for data that has been streaming in: where the port was free it ends at `arrived`.
  Ticks stream(Ticks arrived, Ticks service) {
    free_ = std::max(arrived, free_ + service);
    busy_ += service;
    return free_;
  }
  Ticks free() const { return free_; }
  Ticks busy() const { return busy_; }

 private:
  Ticks free_ = 0;
  Ticks busy_ = 0;
};

}  // namespace warptwin::sim
