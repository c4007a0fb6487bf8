#include "sim/timed/simulation.hpp"

#include <systemc>

#include "sim/timed/timeline.hpp"

namespace warptwin::sim {

Simulation::Simulation() {
  using Handler = sc_core::sc_report_handler;
  Handler::set_actions(sc_core::SC_INFO, sc_core::SC_DO_NOTHING);
  Handler::set_actions(sc_core::SC_ID_NO_SC_START_ACTIVITY_, sc_core::SC_DO_NOTHING);
  sc_core::sc_curr_simcontext = sc_core::sc_default_global_context = new sc_core::sc_simcontext;
  set_now(0);
}

Simulation::~Simulation() {
  delete sc_core::sc_curr_simcontext;
  sc_core::sc_curr_simcontext = sc_core::sc_default_global_context = nullptr;
}

void Simulation::run() {
  sc_core::sc_start();
}

}  // namespace warptwin::sim

/// SystemC's library has a main of its own, which asks for this. Ours comes first: it is not
/// called.
int sc_main(int, char*[]) {
  return 0;
}
