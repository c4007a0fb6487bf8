/// What the commands `extract` and `mutate` do, their options read.

#pragma once

#include <iosfwd>
#include <optional>
#include <set>
#include <string>

#include "sim/verdict/exit_code.hpp"

namespace warptwin::sim {

struct ProgramRequest {
  const ScenarioEntry* scenario = nullptr;  // of a program: its entry
  std::string program;                      // its file; empty: a scenario
  std::optional<ParameterSet> parameters;
  std::set<std::string> fixed;  // parameters that were set by hand
  RunOptions run;
  bool json = false;
};

/// Writes the program of the scenario's canonical run.
void print_extracted(const ProgramRequest& request, std::ostream& out);

/// Proves every mutant, or `mutants_max` of them (0: all), and writes what came of them. Scenarios
/// are taken at their smallest sizes. The exit code says whether one was missed.
ExitCode mutate_and_print(const ProgramRequest& request,
                          std::uint32_t mutants_max,
                          std::ostream& out);

/// Writes mutant `number` of them as a program. Throws ConfigError when there is none.
void print_mutant(const ProgramRequest& request, std::size_t number, std::ostream& out);

}  // namespace warptwin::sim
