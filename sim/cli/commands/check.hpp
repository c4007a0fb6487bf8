/// What a check of one scenario says, in the process that made it or in another.

#pragma once

#include <string>
#include <vector>

#include "sim/cli/filter.hpp"
#include "sim/cli/session.hpp"

namespace warptwin::sim::cli {

struct CheckReport {
  ExitCode code = ExitCode::kClean;
  bool expected_found = false;
  std::string suppressed;          // lines of what was, and of rows that suppress nothing
  bool unused = false;             // there are such rows
  std::vector<JudgedGone> gone{};  // of the baseline
};

struct OneCheck {
  CheckReport report;
  std::string text;  // without --json
  Json json;         // with it
  Judged judged;     // where a report is made of it
};

OneCheck check_one(const Session& session,
                   const ScenarioEntry& scenario,
                   const ParameterSet& parameters,
                   Filter& filter);

/// Every scenario at its defaults, as many at a time as --jobs says.
ExitCode check_all(Session& session);

}  // namespace warptwin::sim::cli
