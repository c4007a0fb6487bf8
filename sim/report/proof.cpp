#include "sim/report/proof.hpp"

#include "sim/ptx/text/demangled.hpp"
#include "sim/run/replay_line.hpp"

namespace warptwin::sim {

namespace {

// What the witness's run shows, the worst first.
const Finding* shown_by(const Witness& witness) {
  const Finding* worst = nullptr;
  for (const Finding& finding : witness.run.findings) {
    if (worst == nullptr || finding.severity > worst->severity) {
      worst = &finding;
    }
  }
  return worst;
}

std::string outcome_of(const Witness& witness) {
  const Finding* shown = shown_by(witness);
  if (shown != nullptr) {
    const std::string object = text_of(shown->object);
    return std::string{shown->info->id} + ": " + object + (object.empty() ? "" : ": ") +
           shown->message;
  }
  return sentence_of(witness.run.end);
}

}  // namespace

std::string title_of(const ScenarioEntry& scenario, const ParameterSet& parameters) {
  const std::string at = parameters.to_string();
  return ptx::demangled(scenario.info->name) + (at.empty() ? "" : " (" + at + ")");
}

ReportContext context_of(const ScenarioEntry& scenario,
                         const ParameterSet& parameters,
                         const ScheduleSpec& schedule,
                         const Rules& rules) {
  return {title_of(scenario, parameters),
          schedule.to_string(),
          replay_line(scenario, parameters, schedule, rules),
          scenario.lines_at};
}

std::vector<ReportedFinding> reported_of(const ProofResult& result,
                                         const ScenarioEntry& scenario,
                                         const ParameterSet& parameters) {
  std::vector<ReportedFinding> all;
  const ReportContext first = context_of(scenario, parameters, result.schedule, result.rules);
  for (const Finding& finding : result.run.findings) {
    all.push_back({finding, result.schedule, first});
  }
  const ReportContext second =
      context_of(scenario, parameters, result.second_schedule, result.rules);
  for (const Finding& finding : result.second.findings) {
    all.push_back({finding, result.second_schedule, second});
  }
  for (const Refutation& refutation : result.refutations) {
    const Witness& witness = refutation.witness;
    ReportContext context = context_of(scenario, parameters, witness.schedule, result.rules);
    Finding finding = refutation.finding;
    if (witness.confirmed) {
      finding.details.push_back(
          Said{Said::Kind::kShown, "by the schedule below: " + outcome_of(witness)});
    } else {
      context.schedule = first.schedule;
      context.replay.clear();
      finding.details.push_back(
          witness.internal_error.empty()
              ? Said{Said::Kind::kShown, "by no schedule that was tried: a warning"}
              : Said{Said::Kind::kProblem,
                     "the schedule that this condition names cannot be executed: " +
                         witness.internal_error});
    }
    all.push_back({finding, witness.confirmed ? witness.schedule : result.schedule, context});
  }
  return all;
}

std::string text_of(const ProofResult& result,
                    const ScenarioEntry& scenario,
                    const ParameterSet& parameters) {
  std::string text;
  for (const ReportedFinding& one : reported_of(result, scenario, parameters)) {
    text += text_of(one.finding, one.context);
  }
  for (const Undecided& undecided : result.undecided) {
    const std::string site = text_of(undecided.site);
    text += "undecided: " + undecided.reason + (site.empty() ? "" : " [" + site + "]") + "\n";
  }
  text += text_of_not_kept(result.not_kept());
  return text;
}

Json json_of(const ProofResult& result,
             const ScenarioEntry& scenario,
             const ParameterSet& parameters) {
  Json findings = Json::array();
  const ReportContext first = context_of(scenario, parameters, result.schedule, result.rules);
  for (const Finding& finding : result.run.findings) {
    findings.push_back(json_of(finding, first));
  }
  const ReportContext second =
      context_of(scenario, parameters, result.second_schedule, result.rules);
  for (const Finding& finding : result.second.findings) {
    findings.push_back(json_of(finding, second));
  }
  Json conditions = Json::array();
  for (const Refutation& refutation : result.refutations) {
    const Witness& witness = refutation.witness;
    const ReportContext context = context_of(scenario, parameters, witness.schedule, result.rules);
    Json one = json_of(refutation.finding, context);
    one["condition"] = name_of(refutation.broken.violation.condition);
    one["confirmed"] = witness.confirmed;
    if (!witness.confirmed) {
      one.erase("replay");
    }
    Json shown = Json::array();
    for (const Finding& finding : witness.run.findings) {
      shown.push_back(json_of(finding, context));
    }
    one["shown"] = shown;
    if (!witness.internal_error.empty()) {
      one["internal_error"] = witness.internal_error;
    }
    conditions.push_back(one);
  }
  Json undecided = Json::array();
  for (const Undecided& one : result.undecided) {
    undecided.push_back({{"reason", one.reason}, {"line", text_of(one.site)}});
  }
  Json report = {{"scenario", scenario.info->name},
                 {"parameters", parameters.to_string()},
                 {"verdict", name_of(result.verdict)},
                 {"strength", result.strength()},
                 {"operations", result.run.operations},
                 {"idle_roles", result.idle_roles},
                 {"findings", findings},
                 {"not_kept", result.not_kept()},
                 {"conditions", conditions},
                 {"undecided", undecided}};
  if (result.claims.tiles != 0) {
    report["claims"] = {{"tiles", result.claims.tiles},
                        {"period", result.claims.period},
                        {"regular_from", result.claims.regular},
                        {"compared", result.claims.compared}};
    if (result.claims.kinds != 0) {
      report["claims"]["kinds"] = result.claims.kinds;
      report["claims"]["orders"] = result.claims.orders;
    }
  }
  return report;
}

Json json_of(const TripProof& proof, const ScenarioEntry& scenario) {
  Json report = {{"parameter", proof.parameter},
                 {"shown", proof.shown},
                 {"step", proof.step},
                 {"trips", proof.trips},
                 {"period", proof.period},
                 {"regular_from", proof.regular},
                 {"compared", proof.compared},
                 {"operations", proof.operations},
                 {"strength", proof.strength()}};
  if (proof.failed) {
    report["failed"] = json_of(*proof.failed, scenario, *proof.failed_at);
  }
  return report;
}

std::string text_of(const TripProof& proof, const ScenarioEntry& scenario) {
  const std::string failed = proof.failed ? text_of(*proof.failed, scenario, *proof.failed_at) : "";
  return failed + proof.strength() + "\n";
}

}  // namespace warptwin::sim
