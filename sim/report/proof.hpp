/// What a proof says, as text and as JSON.

#pragma once

#include "sim/report/json.hpp"
#include "sim/run/prove.hpp"
#include "sim/run/trip_counts.hpp"

namespace warptwin::sim {

/// The findings of a proof and its verdict, for a terminal.
std::string text_of(const ProofResult& result,
                    const ScenarioEntry& scenario,
                    const ParameterSet& parameters);
Json json_of(const ProofResult& result,
             const ScenarioEntry& scenario,
             const ParameterSet& parameters);

/// With the proof of the trip count that is not proved, if there is one.
std::string text_of(const TripProof& proof, const ScenarioEntry& scenario);
Json json_of(const TripProof& proof, const ScenarioEntry& scenario);

/// Names of a scenario, its parameters and a schedule for reports.
ReportContext context_of(const ScenarioEntry& scenario,
                         const ParameterSet& parameters,
                         const ScheduleSpec& schedule,
                         const Rules& rules);

}  // namespace warptwin::sim
