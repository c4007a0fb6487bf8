/// A server that works on one item at a time, in the order in which they ask: its state in closed
/// form, so that it needs no process of its own.

#pragma once

#include <algorithm>

#include "sim/timed/ticks.hpp"
#include "sim/timed/use_history.hpp"

namespace warptwin::sim {

class Port {
 public:
  /// Takes `service` from the moment the port is free, not before `from`. Returns its end.
  Ticks reserve(Ticks from, Ticks service) {
    free_ = std::max(from, free_) + service;
    return used(service);
  }
  /// The same for data that has been streaming in: where the port was free it ends at `arrived`.
  Ticks stream(Ticks arrived, Ticks service) {
    free_ = std::max(arrived, free_ + service);
    return used(service);
  }
  Ticks free() const { return free_; }
  Ticks busy() const { return busy_; }
  /// Writes down when it works.
  void watch(UseHistory* history) { history_ = history; }

 private:
  Ticks used(Ticks service) {
    busy_ += service;
    if (history_ != nullptr) {
      history_->add(free_ - service, free_);
    }
    return free_;
  }

  Ticks free_ = 0;
  Ticks busy_ = 0;
  UseHistory* history_ = nullptr;
};

}  // namespace warptwin::sim
