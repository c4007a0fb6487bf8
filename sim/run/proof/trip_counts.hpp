/// Proves a launch for every trip count of one of its loops, the other parameters as they are.
///
/// The kernel is run at 1, 2, 3, ... trips, and each run is proved by itself. The claim for all the
/// others is made only when the runs turn regular: see regular_runs.hpp. It rests on a hypothesis
/// that no run can show, that the kernel's loop stays regular: a branch on the trip count itself
/// may do something else at one count alone. So more trip counts are proved and compared with what
/// regularity predicts, as many as a bound of operations allows, and the claim names them.

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/run/proof/prove.hpp"

namespace warptwin::sim {

struct TripProof {
  std::string parameter;
  std::int64_t step = 1;  // of the parameter, for one trip
  /// For every trip count, if the loop is regular; without a period for all there are.
  bool shown = false;
  std::uint32_t trips = 0;    // run and proved one by one: 1 .. trips
  std::uint32_t period = 0;   // in trips; valid if shown
  std::uint32_t regular = 0;  // the first trip count of the regular part
  /// Trip counts beyond `trips` that were proved and did what regularity predicts, ascending.
  std::vector<std::uint32_t> compared;
  std::uint64_t operations = 0;
  std::string why_not;  // what stood in the way
  /// The trip count that is not proved, with its witnesses, and its parameters.
  std::optional<ProofResult> failed;
  std::optional<ParameterSet> failed_at;

  /// What no run can show, where the claim rests on it: "its loop is regular beyond 25 trips".
  std::string hypothesis() const;
  /// "for every k, if its loop is regular beyond 25 trips: ..."
  std::string strength() const;
};

/// "26 to 64, 127, 1000"
std::string in_ranges(const std::vector<std::uint32_t>& counts);

/// The parameters of a scenario that are trip counts.
std::vector<std::string> trip_parameters(const ScenarioEntry& scenario);

/// Throws ConfigError when `parameter` is no trip count of the scenario.
TripProof prove_trips(const ScenarioEntry& scenario,
                      const ParameterSet& parameters,
                      const std::string& parameter,
                      const ProofOptions& options);

}  // namespace warptwin::sim
