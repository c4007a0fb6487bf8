/// The command: arguments in, text and an exit code out.

#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "sim/run/scenario_entry.hpp"

namespace warptwin::sim {

enum class ExitCode : int {
  kClean = 0,
  kFinding = 1,
  kUsage = 2,
  kInternal = 3,
  kDevice = 4,
  kIncomplete = 5,
};

/// Runs one command line (without the program's name) over the given scenarios.
ExitCode run_command(const std::vector<std::string>& arguments,
                     const std::vector<ScenarioEntry>& scenarios,
                     std::ostream& out,
                     std::ostream& err);

}  // namespace warptwin::sim
