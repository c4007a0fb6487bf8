// Prove and explore.

#include <ostream>

#include "sim/cli/commands/commands.hpp"
#include "sim/cli/engines.hpp"
#include "sim/cli/filter.hpp"
#include "sim/cli/pictures.hpp"
#include "sim/cli/reports.hpp"
#include "sim/cli/traces.hpp"
#include "sim/report/explanation.hpp"
#include "sim/report/json.hpp"
#include "sim/report/proof.hpp"
#include "sim/report/text.hpp"
#include "sim/report/timing.hpp"
#include "sim/run/proof/check.hpp"
#include "sim/run/proof/choices.hpp"
#include "sim/run/proof/explore_run.hpp"
#include "sim/run/suppressions.hpp"

namespace warptwin::sim::cli {

static void judge_proof(Session& session,
                        const ScenarioEntry& scenario,
                        const ChoiceProof& choices,
                        const std::vector<TripProof>& trips,
                        const RunOptions& run,
                        const Filter& filter,
                        const Verdict& verdict) {
  Judged judged = judged_of(scenario.info->name, choices.at.to_string(), verdict);
  add_proof(session, scenario, choices.at, choices.result, run, judged);
  for (const TripProof& one : trips) {
    if (one.failed) {
      add_proof(session, scenario, *one.failed_at, *one.failed, run, judged);
    }
  }
  const std::vector<JudgedFinding> taken = filter.taken(scenario);
  judged.findings.insert(judged.findings.end(), taken.begin(), taken.end());
  session.judgement.all.push_back(judged);
}

static void judge_search(Session& session,
                         const ScenarioEntry& scenario,
                         const ParameterSet& parameters,
                         const ExploreRunResult& result,
                         const ExploreRunOptions& options,
                         const Filter& filter,
                         const std::vector<JudgedGone>& gone,
                         const Verdict& verdict) {
  Judged judged = judged_of(scenario.info->name, parameters.to_string(), verdict);
  const ReportContext context =
      context_of(scenario, parameters, result.schedule, options.run.rules);
  for (const Finding& finding : result.shown.findings) {
    add_finding(
        session, scenario, parameters, {finding, result.schedule, context}, options.run, judged);
  }
  if (result.search == Explored::kWrong) {
    judged.findings.push_back(judged_of(scenario, result.wrong));
  }
  const std::vector<JudgedFinding> taken = filter.taken(scenario);
  judged.findings.insert(judged.findings.end(), taken.begin(), taken.end());
  judged.gone = gone;
  judged.not_kept = result.shown.not_kept;
  session.judgement.all.push_back(judged);
}

ExitCode prove_command(Session& session) {
  const ScenarioEntry& scenario = find_scenario(session);
  const ParameterSet parameters = parameters_of(session, scenario);
  Pictures pictures{session};
  ProofOptions options;
  options.run = run_options(session, scenario, parameters);
  options.run.moves_data = false;
  options.control_only = session.options.count("control-only") != 0;
  Filter filter{session};
  options.accepts = filter.accepts(scenario);
  const ChoiceProof choices = prove_choices(scenario, parameters, set_by_hand(session), options);
  const ProofResult& result = choices.result;
  Verdict verdict;
  verdict.add(part_of(result, session.options.count("strict") != 0));
  verdict.add({scope_of(choices).code, ""});
  std::vector<TripProof> trips;
  for (const std::string& name : strings(session, "for-all")) {
    trips.push_back(prove_trips(scenario, parameters, name, options));
    verdict.add(part_of(trips.back()));
  }
  const ExitCode code = verdict.code();
  if (judges(session)) {
    judge_proof(session, scenario, choices, trips, options.run, filter, verdict);
    write_verdict(
        session, pictures, scenario, {choices.at, options.run}, session.judgement.all.back());
  }
  if (session.json()) {
    Json json = json_of(result, scenario, choices.at);
    json["choices"] = choices.scope();
    filter.add_to(json, scenario);
    json["for_all"] = Json::array();
    for (const TripProof& one : trips) {
      json["for_all"].push_back(json_of(one, scenario));
    }
    json["exit"] = static_cast<int>(code);
    write_json(session, json);
    return code;
  }
  session.out << text_of(result, scenario, choices.at)
              << title_of(scenario,
                          result.verdict == ProofVerdict::kProved ? parameters : choices.at)
              << ": " << result.strength() << "\n"
              << filter.text_of_taken(scenario);
  if (!choices.names.empty() && result.verdict == ProofVerdict::kProved) {
    session.out << choices.scope() << (choices.complete() ? "" : ": incomplete") << "\n";
  }
  for (const TripProof& one : trips) {
    session.out << text_of(one, scenario);
  }
  return code;
}

ExitCode explore_command(Session& session) {
  const ScenarioEntry& scenario = find_scenario(session);
  const ParameterSet parameters = parameters_of(session, scenario);
  ExploreRunOptions options;
  options.run = run_options(session, scenario, parameters);
  options.search.states_max =
      unsigned_option(session, "max-states", 1, std::uint64_t{4'000'000'000});
  options.search.reduce = options.search.symmetry = session.options.count("full") == 0;
  options.deviations = static_cast<std::uint32_t>(unsigned_option(session, "deviations", 0, 8));
  options.schedules_max = unsigned_option(session, "max-schedules", 1, 1'000'000'000);
  Filter filter{session};
  options.accepts = filter.accepts(scenario);
  options.accepts_protocol = filter.accepts_protocol(scenario);
  const ExploreRunResult result = explore_scenario(scenario, parameters, options);
  Verdict verdict;
  verdict.add(part_of(result, options));
  const ExitCode code = verdict.code();
  // Of what diagnostics name the search may miss some: `check` says what of that is gone.
  const bool searched = result.search == Explored::kRight;
  const std::vector<JudgedGone> gone =
      searched ? filter.gone(scenario, true) : std::vector<JudgedGone>{};
  if (judges(session)) {
    judge_search(session, scenario, parameters, result, options, filter, gone, verdict);
  }
  const ReportContext context =
      context_of(scenario, parameters, result.schedule, options.run.rules);
  if (session.json()) {
    Json findings = Json::array();
    for (const Finding& finding : result.shown.findings) {
      findings.push_back(json_of(finding, context));
    }
    constexpr const char* kVerdicts[] = {"right", "wrong", "incomplete"};
    const bool known = result.known != 0 || result.ended_by_known;
    const auto word_of = [&](Explored explored, bool accepted) {
      return explored == Explored::kRight && accepted ? "accepted"
                                                      : kVerdicts[static_cast<unsigned>(explored)];
    };
    Json report = {{"scenario", scenario.info->name},
                   {"parameters", parameters.to_string()},
                   {"verdict", word_of(result.verdict, known || result.accepted != 0)},
                   {"searched", result.searched()},
                   {"protocols", result.protocols},
                   {"agents", result.agents},
                   {"states", result.states},
                   {"transitions", result.transitions},
                   {"search", word_of(result.search, known)},
                   {"what", result.what},
                   {"path", result.wrong.path},
                   {"schedules", result.schedules},
                   {"all_schedules", result.all_schedules},
                   {"findings", findings},
                   {"not_kept", result.shown.not_kept},
                   {"exit", static_cast<int>(code)}};
    filter.add_to(report, scenario, gone);
    write_json(session, report);
    return code;
  }
  for (const Finding& finding : result.shown.findings) {
    session.out << text_of(finding, context);
  }
  session.out << text_of_not_kept(result.shown.not_kept);
  for (const std::string& step : result.wrong.path) {
    session.out << "  " << step << "\n";
  }
  session.out << title_of(scenario, parameters) << "\n"
              << result.strength(options) << "\n"
              << filter.text_of_taken(scenario)
              << (searched ? filter.text_of_gone(scenario, true) : "");
  return code;
}

}  // namespace warptwin::sim::cli
