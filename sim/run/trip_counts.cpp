#include "sim/run/trip_counts.hpp"

#include <algorithm>
#include <string_view>

#include "sim/run/regular_runs.hpp"

namespace warptwin::sim {

namespace {

constexpr std::uint32_t kTripsMax = 160;

const Parameter& find_trips(const ScenarioEntry& scenario, const std::string& name) {
  std::string known;
  for (const Parameter& parameter : scenario.parameters) {
    if (parameter.trip_step != nullptr) {
      if (name == parameter.name) {
        return parameter;
      }
      known += (known.empty() ? "" : ", ") + std::string{parameter.name};
    }
  }
  throw ConfigError("'" + name + "' is no trip count of '" + scenario.info->name + "'; " +
                    (known.empty() ? "it declares none" : "there are: " + known));
}

// What one trip takes: the product of the named parameters, 1 without any.
std::int64_t trip_step(const ParameterSet& parameters, std::string_view names) {
  std::int64_t step = 1;
  while (!names.empty()) {
    const std::size_t end = std::min(names.find('*'), names.size());
    step *= parameters[names.substr(0, end)];
    names.remove_prefix(std::min(end + 1, names.size()));
  }
  return step;
}

}  // namespace

std::vector<std::string> trip_parameters(const ScenarioEntry& scenario) {
  std::vector<std::string> names;
  for (const Parameter& parameter : scenario.parameters) {
    if (parameter.trip_step != nullptr) {
      names.emplace_back(parameter.name);
    }
  }
  return names;
}

std::string TripProof::strength() const {
  if (!shown) {
    return "not shown for every " + parameter + ": " + why_not;
  }
  const std::string unit = step == 1 ? "" : " (" + std::to_string(step) + " a trip)";
  return "for every " + parameter + unit + ": 1 to " + std::to_string(trips) +
         " trips proved one by one; from " + std::to_string(regular) +
         " on the same state comes back every " + std::to_string(period) +
         (period == 1 ? " trip" : " trips");
}

TripProof prove_trips(const ScenarioEntry& scenario,
                      const ParameterSet& parameters,
                      const std::string& parameter,
                      const ProofOptions& options) {
  const Parameter& trips = find_trips(scenario, parameter);
  TripProof proof;
  proof.parameter = parameter;
  proof.step = trip_step(parameters, trips.trip_step);
  RegularRuns runs;
  for (std::uint32_t count = 1; count <= kTripsMax; ++count) {
    ParameterSet at = parameters;
    const std::int64_t value = proof.step * count;
    if (value > trips.maximum) {
      proof.why_not = "its range ends before the runs turn regular";
      return proof;
    }
    ProofOptions one = options;
    one.witnesses = false;
    one.keep_streams = true;
    try {
      at.set(parameter, value);
      const ProofResult result = prove(scenario, at, one);
      proof.operations += result.run.operations;
      if (result.verdict != ProofVerdict::kProved) {
        proof.why_not =
            "at " + parameter + "=" + std::to_string(value) + " it is " + name_of(result.verdict);
        return proof;
      }
      proof.trips = count;
      proof.shown = runs.add(result.streams, result.claims.asked);
    } catch (const ConfigError& error) {
      proof.why_not = "at " + parameter + "=" + std::to_string(value) + ": " + error.what();
      return proof;
    }
    if (proof.shown) {
      proof.period = runs.period();
      proof.regular = runs.first();
      return proof;
    }
  }
  proof.why_not = "no state came back within " + std::to_string(kTripsMax) + " trips";
  return proof;
}

}  // namespace warptwin::sim
