/// What the command `ptx` does, its options read.

#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "sim/cli/exit_code.hpp"

namespace warptwin::sim {

struct PtxRequest {
  std::vector<std::string> words;  // the verb, then files of PTX
  std::string kernel;              // of `show`; empty: every function
  bool json = false;
};

/// `coverage FILE...`: which instructions the simulator does not have; clean where there is none,
/// else kUsage. `show FILE`: the decoded listing. `init FILE`: a launch file. Throws ConfigError.
ExitCode ptx(const PtxRequest& request, std::ostream& out);

}  // namespace warptwin::sim
