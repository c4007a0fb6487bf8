/// What a proof says, as text and as JSON.

#pragma once

#include <vector>

#include "sim/report/json.hpp"
#include "sim/run/proof/prove.hpp"
#include "sim/run/proof/trip_counts.hpp"

namespace warptwin::sim {

/// A finding of a proof, with the schedule that shows it.
struct ReportedFinding {
  Finding finding;
  ScheduleSpec schedule;
  ReportContext context;
};

/// All of them, in the order of the report.
std::vector<ReportedFinding> reported_of(const ProofResult& result,
                                         const ScenarioEntry& scenario,
                                         const ParameterSet& parameters);

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
/// What people read: of a PTX kernel the name as the program's text has it; the parameters, if any.
std::string title_of(const ScenarioEntry& scenario, const ParameterSet& parameters);

ReportContext context_of(const ScenarioEntry& scenario,
                         const ParameterSet& parameters,
                         const ScheduleSpec& schedule,
                         const Rules& rules);

}  // namespace warptwin::sim
