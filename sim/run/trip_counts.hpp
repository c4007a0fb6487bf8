/// Proves a launch for every trip count of one of its loops, the other parameters as they are.
///
/// The kernel is run at 1, 2, 3, ... trips, and each run is proved by itself. The claim for all the
/// others is made only when the runs turn regular: see regular_runs.hpp.

#pragma once

#include <string>
#include <vector>

#include "sim/run/prove.hpp"

namespace warptwin::sim {

struct TripProof {
  std::string parameter;
  std::int64_t step = 1;      // of the parameter, for one trip
  bool shown = false;         // for every trip count
  std::uint32_t trips = 0;    // run and proved one by one: 1 .. trips
  std::uint32_t period = 0;   // in trips; valid if shown
  std::uint32_t regular = 0;  // the first trip count of the regular part
  std::uint64_t operations = 0;
  std::string why_not;  // what stood in the way

  /// "for every k >= 1 (...)"
  std::string strength() const;
};

/// The parameters of a scenario that are trip counts.
std::vector<std::string> trip_parameters(const ScenarioEntry& scenario);

/// Throws ConfigError when `parameter` is no trip count of the scenario.
TripProof prove_trips(const ScenarioEntry& scenario,
                      const ParameterSet& parameters,
                      const std::string& parameter,
                      const ProofOptions& options);

}  // namespace warptwin::sim
