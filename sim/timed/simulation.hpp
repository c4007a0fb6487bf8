/// One SystemC simulation: its own context, made and thrown away.

#pragma once

#include <systemc>

namespace warptwin::sim {

/// SystemC elaborates once in a context, and knows one context: between two runs it is replaced.
/// Everything that touches the library's own state stands here.
class Simulation {
 public:
  Simulation() {
    sc_core::sc_report_handler::set_actions(sc_core::SC_INFO, sc_core::SC_DO_NOTHING);
    sc_core::sc_curr_simcontext = sc_core::sc_default_global_context = new sc_core::sc_simcontext;
  }
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;
  ~Simulation() {
    delete sc_core::sc_curr_simcontext;
    sc_core::sc_curr_simcontext = sc_core::sc_default_global_context = nullptr;
  }

  /// Runs until nothing is left to happen.
  void run() { sc_core::sc_start(); }
};

}  // namespace warptwin::sim
