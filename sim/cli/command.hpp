/// The command: arguments in, text and an exit code out.

#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "sim/run/scenario_entry.hpp"
#include "sim/verdict/exit_code.hpp"

namespace warptwin::sim {

/// Runs one command line (without the program's name) over the given scenarios.
ExitCode run_command(const std::vector<std::string>& arguments,
                     const std::vector<ScenarioEntry>& scenarios,
                     std::ostream& out,
                     std::ostream& err);

}  // namespace warptwin::sim
