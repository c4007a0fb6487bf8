/// The smallest sizes at which a scenario still does all that it does.

#pragma once

#include <set>
#include <string>

#include "sim/run/simulate.hpp"

namespace warptwin::sim {

/// Parameters with few operations at which every line executes that executes at `start`, every line
/// that waits waits for phases 0, 1 and 2 if it does there, and who works at several addresses
/// there works at two or more. Those in `fixed` keep their value. `run` says how runs are made.
ParameterSet smallest_parameters(const ScenarioEntry& scenario,
                                 const ParameterSet& start,
                                 const std::set<std::string>& fixed,
                                 const RunOptions& run);

}  // namespace warptwin::sim
