/// One SystemC simulation: its own context, made and thrown away.

#pragma once

namespace warptwin::sim {

/// SystemC elaborates once in a context, and knows one context: between two runs it is replaced.
/// Everything that touches the library's own state stands behind this.
class Simulation {
 public:
  Simulation();
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;
  ~Simulation();

  /// Runs until nothing is left to happen.
  void run();
};

}  // namespace warptwin::sim
