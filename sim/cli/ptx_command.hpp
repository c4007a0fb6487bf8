/// What the command `ptx` does, its options read.

#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "sim/run/scenario_entry.hpp"
#include "sim/verdict/exit_code.hpp"

namespace warptwin::sim {

struct PtxRequest {
  std::vector<std::string> words;  // the verb, then files of PTX
  std::string kernel;              // of `show`; empty: every function
  std::string launch;              // of `show`: a launch file; empty: the code
  std::string names;               // of that launch: a file of names; empty: none
  bool json = false;
};

/// `coverage FILE...`: which instructions the simulator does not have; clean where there is none,
/// else kUsage. `show FILE`: the decoded listing, or a launch. `init FILE`: a launch file.
/// `scenarios` are those that a launch file may name. Throws ConfigError.
ExitCode ptx(const PtxRequest& request,
             const std::vector<ScenarioEntry>& scenarios,
             std::ostream& out);

}  // namespace warptwin::sim
