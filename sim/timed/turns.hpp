/// What all SMs share - L2, DRAM, clusters that have not begun - is asked for in the order of time,
/// whichever timeline has run first.

#pragma once

#include <cstdint>
#include <tuple>
#include <vector>

#include <systemc>

#include "sim/timed/timeline.hpp"

namespace warptwin::sim {

/// Who asks.
class Asker {
 public:
  virtual void turn() = 0;

 protected:
  ~Asker() = default;
};

class Turns : public sc_core::sc_module {
 public:
  explicit Turns(const sc_core::sc_module_name& name);

  /// From a callback of `timeline`: gives `asker` its turn when no timeline can ask for an earlier
  /// time any more. It is the time of asking then. Nothing follows from it in the timeline before
  /// `soonest`: if that is in the window which runs, the timeline is paused until the turn.
  void ask(Timeline& timeline, Asker& asker, Ticks soonest);
  void ask(Timeline& timeline, Asker& asker) { ask(timeline, asker, now()); }

 private:
  struct Turn {
    Ticks when;
    std::uint32_t place;  // among those who ask at the same time
    std::uint64_t serial;
    Timeline* timeline;
    Asker* asker;
    bool pauses;
    bool operator<(const Turn& other) const {
      return std::tie(when, place, serial) > std::tie(other.when, other.place, other.serial);
    }
  };

  void take();

  std::vector<Turn> turns_;  // a heap
  std::uint64_t serial_ = 0;
  sc_core::sc_event all_have_run_;
};

}  // namespace warptwin::sim
