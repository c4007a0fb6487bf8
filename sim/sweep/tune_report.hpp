/// What tuning found, as text, as JSON, and as a header that a program includes.

#pragma once

#include <string>
#include <vector>

#include "sim/sweep/tune.hpp"

namespace warptwin::sim {

std::string text_of(const Space& space, const TuneResult& result);
Json json_of(const Space& space, const TuneResult& result);

/// A problem, and what was found for it.
struct TunedProblem {
  std::vector<std::pair<std::string, std::int64_t>> problem;  // "m", 4096
  ParameterSet parameters;                                    // of the configuration
  double microseconds = 0;
};

/// C++17 that needs nothing of ours: a struct of the parameters, a table with a row a problem, and
/// `find` for the row of a problem. `what` names the scenario and the chip.
std::string header_of(const std::vector<TunedProblem>& problems,
                      const Space& space,
                      const std::string& what);

}  // namespace warptwin::sim
