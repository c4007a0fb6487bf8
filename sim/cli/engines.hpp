/// `warptwin run SCENARIO --on functional,timed,hw`: one scenario on several engines, and each
/// pair of them compared.

#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "sim/cli/traces.hpp"

namespace warptwin::sim {

enum class EngineKind : std::uint8_t { kFunctional, kTimed, kHardware };

/// Reads "functional,timed,hw": at least one, none twice. Throws ConfigError.
std::vector<EngineKind> parse_engines(const std::string& names);

struct EnginesOptions {
  RunOptions run;        // for the functional engine
  TimingOptions timing;  // for the timed one
  Chip chip;
  std::vector<std::string> settings;  // of --set, for the GPU
  std::string hw;                     // its command, `warptwin-hw`
};

/// What each engine did, and how they differ.
struct EnginesResult {
  struct Ran {
    std::string engine;
    std::string said;      // "done, 223 operations"; of the GPU what it was
    bool right = true;     // it ended, with nothing found and the values right
    bool bounded = false;  // it came to the bound of its steps
    Trace trace;
  };
  struct LeftOut {
    std::string engine;
    std::string why;
  };
  struct Pair {
    std::size_t first = 0;  // indices into `ran`
    std::size_t second = 0;
    TraceComparison comparison;
  };
  std::vector<Ran> ran;
  std::vector<LeftOut> left_out;
  std::vector<Pair> pairs;
};

/// Runs and compares. A GPU that is not there, or cannot run the scenario, is left out.
EnginesResult run_on_engines(const ScenarioEntry& scenario,
                             const ParameterSet& parameters,
                             const std::vector<EngineKind>& engines,
                             const EnginesOptions& options);

std::string text_of(const EnginesResult& result);
Json json_of(const EnginesResult& result);

/// The command beside this one that runs on a GPU: its own path, and "-hw".
std::string hw_command_path();

}  // namespace warptwin::sim
