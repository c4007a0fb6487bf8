#include "sim/run/proof/trip_counts.hpp"

#include <algorithm>
#include <random>
#include <set>
#include <string_view>

#include "sim/run/proof/regular_runs.hpp"

namespace warptwin::sim {

namespace {

constexpr std::uint32_t kTripsMax = 160;
constexpr std::uint32_t kDense = 64;  // up to here trip counts are compared one by one
constexpr std::uint64_t kComparedOperations = 1'000'000;

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
  if (step < 1) {
    throw ConfigError("one trip takes " + std::to_string(step) + ": it has to take something");
  }
  return step;
}

// The trip counts beyond `trips`, up to `most`, at which regularity is tried, the most telling
// first: those that follow, powers of two and their neighbours, some drawn at random, the last.
std::vector<std::uint32_t> candidates(std::uint32_t trips, std::uint32_t most) {
  std::vector<std::uint32_t> counts;
  std::set<std::uint32_t> seen;
  const auto add = [&](std::uint64_t count) {
    if (count > trips && count <= most && seen.insert(static_cast<std::uint32_t>(count)).second) {
      counts.push_back(static_cast<std::uint32_t>(count));
    }
  };
  for (std::uint32_t count = trips + 1; count <= std::max(2 * trips, kDense); ++count) {
    add(count);
  }
  std::mt19937_64 random{trips};
  for (std::uint64_t power = 1; power <= most; power *= 2) {
    add(power - 1);
    add(power);
    add(power + 1);
    add(power + random() % power);  // the same for every launch with so many trips
  }
  add(most);
  return counts;
}

// Proves trip counts until they turn regular, and then tries whether they stay so.
class TripProver {
 public:
  TripProver(const ScenarioEntry& scenario,
             const ParameterSet& parameters,
             const Parameter& trips,
             const ProofOptions& options)
      : scenario_{scenario}, parameters_{parameters}, trips_{trips}, options_{options} {
    proof_.parameter = trips.name;
    proof_.step = trip_step(parameters, trips.trip_step);
  }

  TripProof operator()() {
    const auto most = static_cast<std::uint32_t>(
        std::min<std::int64_t>(trips_.maximum / proof_.step, ~std::uint32_t{0}));
    for (std::uint32_t count = 1; count <= kTripsMax; ++count) {
      if (count > most) {
        // Every value there is has been proved; a trip that is cut short would be another value.
        proof_.shown = proof_.step == 1 && proof_.trips != 0;
        proof_.why_not = "its range ends before the runs turn regular";
        return std::move(proof_);
      }
      const std::optional<ProofResult> result = prove_at(count);
      if (!result) {
        return std::move(proof_);
      }
      proof_.trips = count;
      if (runs_.add(result->streams, result->claims.asked)) {
        proof_.shown = true;
        proof_.period = runs_.period();
        proof_.regular = runs_.first();
        compare(most);
        return std::move(proof_);
      }
    }
    proof_.why_not = "no state came back within " + std::to_string(kTripsMax) + " trips";
    return std::move(proof_);
  }

 private:
  // The proof at a trip count; nothing, with the reason noted, if it is not proved.
  std::optional<ProofResult> prove_at(std::uint32_t count) {
    ParameterSet at = parameters_;
    const std::int64_t value = proof_.step * count;
    const std::string where = "at " + proof_.parameter + "=" + std::to_string(value);
    ProofOptions one = options_;
    one.witnesses = false;
    try {
      at.set(proof_.parameter, value);
      one.streams_max = scenario_.workload(at).clusters;
      ProofResult result = prove(scenario_, at, one);
      if (result.verdict != ProofVerdict::kProved && options_.witnesses) {
        one.witnesses = true;
        result = prove(scenario_, at, one);
      }
      operations_ = result.operations;
      proof_.operations += operations_;
      if (result.verdict == ProofVerdict::kProved) {
        return result;
      }
      proof_.why_not = where + " it is " + name_of(result.verdict);
      proof_.failed = std::move(result);
      proof_.failed_at = at;
    } catch (const ConfigError& error) {
      proof_.why_not = where + ": " + error.what();
    }
    proof_.shown = false;
    return std::nullopt;
  }

  void compare(std::uint32_t most) {
    // A run's operations grow with its trips; the bound is of all runs together.
    const std::uint64_t a_trip = operations_ / proof_.trips + 1;
    const std::uint64_t bound = std::max(kComparedOperations, proof_.operations);
    std::uint64_t spent = 0;
    for (const std::uint32_t count : candidates(proof_.trips, most)) {
      const std::uint64_t cost = a_trip * count;
      // Those that follow get half of it.
      if (spent + cost > (count <= std::max(2 * proof_.trips, kDense) ? bound / 2 : bound)) {
        continue;
      }
      spent += cost;
      const std::optional<ProofResult> result = prove_at(count);
      if (!result) {
        return;
      }
      if (!runs_.predicts(result->streams, count)) {
        proof_.shown = false;
        proof_.why_not = "from " + std::to_string(proof_.regular) + " to " +
                         std::to_string(proof_.trips) + " trips the same state comes back every " +
                         std::to_string(proof_.period) + ", and the run of " +
                         std::to_string(count) + " trips is another than that predicts";
        return;
      }
      proof_.compared.push_back(count);
    }
    std::sort(proof_.compared.begin(), proof_.compared.end());
  }

  const ScenarioEntry& scenario_;
  const ParameterSet& parameters_;
  const Parameter& trips_;
  const ProofOptions& options_;
  TripProof proof_;
  RegularRuns runs_;
  std::uint64_t operations_ = 0;  // of the last run
};

}  // namespace

std::string in_ranges(const std::vector<std::uint32_t>& counts) {
  std::string text;
  for (std::size_t first = 0; first < counts.size();) {
    std::size_t last = first;
    while (last + 1 < counts.size() && counts[last + 1] == counts[last] + 1) {
      ++last;
    }
    text += (text.empty() ? "" : ", ") + std::to_string(counts[first]);
    if (last != first) {
      text += (last == first + 1 ? ", " : " to ") + std::to_string(counts[last]);
    }
    first = last + 1;
  }
  return text;
}

std::vector<std::string> trip_parameters(const ScenarioEntry& scenario) {
  std::vector<std::string> names;
  for (const Parameter& parameter : scenario.parameters) {
    if (parameter.trip_step != nullptr) {
      names.emplace_back(parameter.name);
    }
  }
  return names;
}

std::string TripProof::hypothesis() const {
  return shown && period != 0 ? "its loop is regular beyond " + std::to_string(trips) + " trips"
                              : "";
}

std::string TripProof::strength() const {
  if (!shown) {
    return "not shown for every " + parameter + ": " + why_not;
  }
  const std::string unit = step == 1 ? "" : " (" + std::to_string(step) + " a trip)";
  const std::string one_by_one = "1 to " + std::to_string(trips) + " trips proved one by one";
  if (period == 0) {
    return "for every " + parameter + unit + ": " + one_by_one + "; its range has no more";
  }
  return "for every " + parameter + unit + ", if " + hypothesis() + ":\n  " + one_by_one +
         "; from " + std::to_string(regular) + " on the same state comes back every " +
         std::to_string(period) + (period == 1 ? " trip" : " trips") + "\n  " +
         (compared.empty()
              ? "compared with that at no further count: each takes too many operations"
              : "proved, and compared with that, at " + in_ranges(compared));
}

TripProof prove_trips(const ScenarioEntry& scenario,
                      const ParameterSet& parameters,
                      const std::string& parameter,
                      const ProofOptions& options) {
  return TripProver{scenario, parameters, find_trips(scenario, parameter), options}();
}

}  // namespace warptwin::sim
