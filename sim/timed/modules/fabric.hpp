/// What leaves an SM for another one or for the grid's scheduler: remote arrivals, commits to other
/// CTAs, cluster launch control.

#pragma once

#include "sim/timed/modules/agenda.hpp"
#include "sim/timed/modules/completions.hpp"

namespace warptwin::sim {

class Fabric : public Agenda<Slot> {
 public:
  Fabric(const sc_core::sc_module_name& name, Completions& completions)
      : Agenda{name}, completions_{completions} {}

  /// Steps `slot` after `latency`.
  void send(Ticks latency, Slot slot) { at(now() + latency, slot); }

 private:
  void due(const Slot& slot) override { completions_.step(slot); }

  Completions& completions_;
};

}  // namespace warptwin::sim
