#include "sim/run/trip_counts.hpp"

#include <algorithm>

namespace warptwin::sim {

namespace {

constexpr std::uint32_t kTripsMax = 160;

using Streams = std::vector<RunOrder::Stream>;

// Whether `longer` is `shorter` with pieces inserted, each between two visits to one state: the
// mark before a piece comes again, with the same state, at its end. An inner loop gets a piece each
// time the outer one comes round.
bool is_insertion(const RunOrder::Stream& shorter, const RunOrder::Stream& longer) {
  const std::vector<std::uint64_t>& a = shorter.steps;
  const std::vector<std::uint64_t>& b = longer.steps;
  std::size_t at = 0;     // matched so far, in a
  std::size_t ahead = 0;  // inserted so far
  std::size_t mark = 0;   // the last mark that is matched, as an index into shorter.marks, plus one
  for (;;) {
    while (at < a.size() && at + ahead < b.size() && a[at] == b[at + ahead]) {
      ++at;
    }
    if (at == a.size() && at + ahead == b.size()) {
      return ahead != 0;
    }
    while (mark < shorter.marks.size() && shorter.marks[mark] < at) {
      ++mark;
    }
    if (mark == 0) {
      return false;
    }
    // Back to the last mark, and on from where it comes again.
    const std::size_t from = shorter.marks[mark - 1];
    std::size_t best = 0;
    std::size_t best_at = at;
    for (const std::uint32_t again : longer.marks) {
      if (again <= from + ahead || b[again] != a[from]) {
        continue;
      }
      std::size_t reach = from;
      while (reach < a.size() && again + (reach - from) < b.size() &&
             a[reach] == b[again + (reach - from)]) {
        ++reach;
      }
      if (reach > best_at) {
        best_at = reach;
        best = again - from;
      }
    }
    if (best == 0) {
      return false;
    }
    at = best_at;
    ahead = best;
  }
}

// A CTA group that does not take part in the loop stays as it is; groups that come with more trips
// do what some group did before.
bool is_regular(const Streams& shorter, const Streams& longer) {
  if (shorter.size() > longer.size()) {
    return false;
  }
  bool grown = longer.size() > shorter.size();
  for (std::size_t i = shorter.size(); i < longer.size(); ++i) {
    const bool known =
        std::any_of(shorter.begin(), shorter.end(), [&](const RunOrder::Stream& stream) {
          return stream.steps == longer[i].steps;
        });
    if (!known) {
      return false;
    }
  }
  for (std::size_t i = 0; i < shorter.size(); ++i) {
    if (shorter[i].steps == longer[i].steps) {
      continue;
    }
    if (!is_insertion(shorter[i], longer[i])) {
      return false;
    }
    grown = true;
  }
  return grown;
}

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
  proof.step = trips.trip_step[0] == '\0' ? 1 : parameters[trips.trip_step];
  std::vector<Streams> streams(1);            // by trip count
  std::vector<std::uint32_t> regular_for(1);  // by period: runs in a row
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
      streams.push_back(result.streams);
    } catch (const ConfigError& error) {
      proof.why_not = "at " + parameter + "=" + std::to_string(value) + ": " + error.what();
      return proof;
    }
    proof.trips = count;
    regular_for.resize(count + 1, 0);
    for (std::uint32_t period = 1; period < count; ++period) {
      regular_for[period] =
          is_regular(streams[count - period], streams[count]) ? regular_for[period] + 1 : 0;
      // A whole period from each of its trip counts, and once more to see the piece repeated.
      if (regular_for[period] >= 2 * period) {
        proof.shown = true;
        proof.period = period;
        proof.regular = count - 3 * period + 1;
        return proof;
      }
    }
  }
  proof.why_not = "no state came back within " + std::to_string(kTripsMax) + " trips";
  return proof;
}

}  // namespace warptwin::sim
