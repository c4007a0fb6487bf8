/// What leaves an SM for another one or for the grid's scheduler: remote arrivals, commits to other
/// CTAs, cluster launch control.

#pragma once

#include "sim/timed/modules/agenda.hpp"
#include "sim/timed/modules/completions.hpp"
#include "sim/timed/modules/port.hpp"

namespace warptwin::sim {

/// An agent to be stepped, and why.
struct Errand {
  AgentSlot slot;
  Cause cause = kNoCause;
};

class Fabric : public Agenda<Errand> {
 public:
  Fabric(const sc_core::sc_module_name& name,
         Timeline& timeline,
         Completions& completions,
         CauseLog* log = nullptr)
      : Agenda{name, timeline}, completions_{completions}, log_{log} {}

  /// Steps `slot` after `latency`, which is that of `unit`.
  void send(Ticks latency, AgentSlot slot, Unit unit = Unit::kNetwork) {
    at(now() + latency, {slot, add_step(log_, unit, now() + latency, acting_in(log_))});
  }
  /// The same into an SM, whose port takes one message after the other, `service` each.
  void send(Ticks latency, AgentSlot slot, Port& into, Ticks service) {
    const Ticks starts = into.reserve(now(), service) - service;
    at(starts + latency, {slot, add_step(log_, Unit::kNetwork, starts + latency, acting_in(log_))});
  }

 private:
  void due(const Errand& errand) override { step(completions_, log_, errand.slot, errand.cause); }

  Completions& completions_;
  CauseLog* log_;
};

}  // namespace warptwin::sim
