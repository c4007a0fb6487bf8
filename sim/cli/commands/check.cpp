// Check, of one scenario.

#include "sim/cli/commands/check.hpp"

#include <algorithm>
#include <optional>
#include <ostream>
#include <set>

#include "sim/cli/commands/commands.hpp"
#include "sim/cli/engines.hpp"
#include "sim/cli/pictures.hpp"
#include "sim/cli/reports.hpp"
#include "sim/cli/traces.hpp"
#include "sim/ptx/text/demangled.hpp"
#include "sim/report/explanation.hpp"
#include "sim/report/json.hpp"
#include "sim/report/proof.hpp"
#include "sim/report/text.hpp"
#include "sim/report/timing.hpp"
#include "sim/run/check.hpp"
#include "sim/run/choices.hpp"
#include "sim/run/explore_run.hpp"
#include "sim/run/suppressions.hpp"
#include "sim/trace/trace_file.hpp"

namespace warptwin::sim::cli {

static CheckOptions check_options(const Session& session, const RunOptions& run) {
  CheckOptions options;
  options.run = run;
  options.seed = unsigned_option(session, "seed", 0, kAnySeed);
  options.random = static_cast<std::uint32_t>(unsigned_option(session, "random", 0, 10'000'000));
  options.pct = static_cast<std::uint32_t>(unsigned_option(session, "pct", 0, 10'000'000));
  options.pct_depth = static_cast<std::uint32_t>(unsigned_option(session, "depth", 1, 64));
  options.keep_going =
      session.options.count("keep-going") != 0 || session.options.count("all") != 0;
  return options;
}

// Whether schedules are tried beside the proof: where it does not decide, and where they are asked
// for.
static bool tries_schedules(const Session& session, const ProofResult& proof) {
  return proof.verdict == ProofVerdict::kUndecided || proof.verdict == ProofVerdict::kUnordered ||
         proof.verdict == ProofVerdict::kAccepted || session.options.count("keep-going") != 0 ||
         session.options.count("all") != 0 || !session.options["random"].defaulted() ||
         !session.options["pct"].defaulted();
}

static bool shows_id(const ProofResult& proof, const char* id) {
  const auto is = [&](const Finding& finding) { return std::string_view{finding.info->id} == id; };
  const auto in = [&](const std::vector<Finding>& findings) {
    return std::any_of(findings.begin(), findings.end(), is);
  };
  return in(proof.run.findings) || in(proof.second.findings) || in(proof.accepted) ||
         std::any_of(proof.refutations.begin(), proof.refutations.end(), [&](const Refutation& r) {
           return is(r.finding) || in(r.witness.run.findings);
         });
}

// A row that suppresses nothing is a warning: it fails what warnings fail. Where the check stopped
// at a defect, nothing is said of such rows.
static void note_suppressions(const Session& session,
                              const ScenarioEntry& scenario,
                              const Filter& filter,
                              CheckReport& report) {
  report.suppressed = filter.text_of_taken(scenario);
  const bool all = session.options.count("all") != 0;
  if (report.code == ExitCode::kFinding && !all && session.options.count("keep-going") == 0) {
    return;
  }
  report.suppressed += filter.text_of_gone(scenario);
  report.gone = filter.gone(scenario);
  const std::string unused = text_of_unused(filter.rows(scenario));
  report.suppressed += unused;
  report.unused = !unused.empty();
  if (report.unused && (all || session.options.count("strict") != 0)) {
    report.code = worse(report.code, ExitCode::kFinding);
  }
}

// What a check found out about one scenario.
struct Checked {
  ChoiceProof choices;
  std::optional<RunResult> computed;  // one run with its data: the comparisons, and wrong results
  std::optional<CheckResult> sampled;
  ReportContext context;  // of `found`
  ReportContext computed_context;
  std::string verdict;
  CheckReport report;

  // In the schedules beside the proof.
  const RunResult& found_run() const {
    static const RunResult kNone;
    return !sampled ? kNone : sampled->failing != 0 ? sampled->first_failing : sampled->warnings;
  }
  const std::vector<Finding>& found() const { return found_run().findings; }
  std::uint64_t not_kept() const { return choices.result.not_kept() + found_run().not_kept; }
  const ScheduleSpec& found_in() const {
    return sampled->failing != 0 ? sampled->failing_schedule : sampled->warning_schedule;
  }
};

static void sample(const Session& session,
                   const ScenarioEntry& scenario,
                   const ParameterSet& parameters,
                   CheckOptions options,
                   Checked& checked) {
  options.run.moves_data = checked.choices.result.data_decides;
  options.data_decides = checked.choices.result.data_decides;
  checked.sampled = check(scenario, parameters, options);
  const CheckResult& sampled = *checked.sampled;
  CheckReport& report = checked.report;
  const bool failed = sampled.failing != 0;
  const bool strict = session.options.count("strict") != 0;
  checked.context = context_of(scenario,
                               parameters,
                               failed ? sampled.failing_schedule : sampled.warning_schedule,
                               options.run.rules);
  const ExitCode code = failed || (strict && !sampled.warnings.findings.empty())
                            ? ExitCode::kFinding
                        : sampled.bound_hit ? ExitCode::kIncomplete
                                            : ExitCode::kClean;
  // What the proof leaves open stays open, whatever the samples say.
  report.code = worse(report.code, code);
  report.expected_found = report.expected_found || sampled.ids.contains(scenario.info->expected);
  checked.verdict +=
      "\n" + (failed ? "a defect in one of " + std::to_string(sampled.schedules) + " schedules"
                     : (sampled.accepted == 0 ? "no defect in " : "no other defect in ") +
                           sampled.strength());
}

static void compute(const Session& session,
                    const ScenarioEntry& scenario,
                    const ParameterSet& parameters,
                    const CheckOptions& options,
                    Checked& checked) {
  if (!options.run.moves_data) {
    checked.verdict += "\nvalues not compared: --control-only moves none";
    return;
  }
  const std::uint64_t work = work_of(scenario.workload(parameters));
  if (work > kDataWorkMax && session.options.count("data") == 0) {
    checked.verdict +=
        "\nvalues not compared: " + std::to_string(work) + " operations are many; --data does it";
    return;
  }
  RunOptions run = options.run;
  run.detect = false;
  RunResult& computed = checked.computed.emplace(simulate(scenario, parameters, run));
  CheckReport& report = checked.report;
  report.expected_found =
      report.expected_found ||
      std::any_of(computed.findings.begin(), computed.findings.end(), [&](const Finding& finding) {
        return std::string_view{finding.info->id} == scenario.info->expected;
      });
  if (options.accepts) {
    std::erase_if(computed.findings, options.accepts);
  }
  report.code =
      worse(report.code, computed.findings.empty() ? ExitCode::kClean : ExitCode::kFinding);
  checked.computed_context = context_of(scenario, parameters, run.schedule, run.rules);
}

static Checked check_scenario(const Session& session,
                              const ScenarioEntry& scenario,
                              const ParameterSet& parameters,
                              Filter& filter) {
  CheckOptions options = check_options(session, run_options(session, scenario, parameters));
  options.accepts = filter.accepts(scenario);
  ProofOptions proof_options;
  proof_options.run = options.run;
  proof_options.run.moves_data = false;
  proof_options.control_only = session.options.count("control-only") != 0;
  proof_options.accepts = options.accepts;
  Checked checked{prove_choices(scenario, parameters, set_by_hand(session), proof_options),
                  {},
                  {},
                  {},
                  {},
                  {},
                  {}};
  const ProofResult& proof = checked.choices.result;
  CheckReport& report = checked.report;
  report.code = exit_of(checked.choices, session.options.count("strict") != 0);
  report.expected_found = shows_id(proof, scenario.info->expected);
  checked.verdict = proof.strength();
  if (proof.run.end == Ending::kDone && proof.verdict != ProofVerdict::kRefuted) {
    compute(session, scenario, parameters, options, checked);
  }
  if (!checked.choices.names.empty() && proof.verdict == ProofVerdict::kProved) {
    checked.verdict += "\n" + checked.choices.scope();
  }
  if (tries_schedules(session, proof)) {
    sample(session,
           scenario,
           proof.verdict == ProofVerdict::kProved ? parameters : checked.choices.at,
           options,
           checked);
  }
  note_suppressions(session, scenario, filter, report);
  return checked;
}

static Judged judged_of(const Session& session,
                        const Checked& checked,
                        const ScenarioEntry& scenario,
                        const ParameterSet& parameters,
                        const Filter& filter) {
  Judged judged;
  const ProofResult& proof = checked.choices.result;
  const ParameterSet& at = checked.choices.at;
  judged.scenario = scenario.info->name;
  judged.parameters = at.to_string();
  judged.exit = static_cast<int>(checked.report.code);
  judged.right = checked.report.code == ExitCode::kClean;
  judged.answer = checked.verdict;
  judged.gone = checked.report.gone;
  RunOptions run = run_options(session, scenario, parameters);
  add_proof(session, scenario, at, proof, run, judged);
  run.moves_data = proof.data_decides;
  for (const Finding& finding : checked.found()) {
    add_finding(session, scenario, at, {finding, checked.found_in(), checked.context}, run, judged);
  }
  if (checked.computed) {
    for (const Finding& finding : checked.computed->findings) {
      add_finding(
          session, scenario, parameters, {finding, {}, checked.computed_context}, run, judged);
    }
  }
  const std::vector<JudgedFinding> taken = filter.taken(scenario);
  judged.findings.insert(judged.findings.end(), taken.begin(), taken.end());
  judged.not_kept += checked.found_run().not_kept;
  return judged;
}

static Json json_of(const Checked& checked, const ScenarioEntry& scenario, const Filter& filter) {
  Json one = json_of(checked.choices.result, scenario, checked.choices.at);
  one["choices"] = checked.choices.scope();
  one["schedules"] = checked.sampled ? checked.sampled->schedules : 0;
  one["failing"] = checked.sampled ? checked.sampled->failing : 0;
  for (const Finding& finding : checked.found()) {
    one["findings"].push_back(json_of(finding, checked.context));
  }
  one["not_kept"] = checked.not_kept();
  one["comparisons"] = Json::array();
  if (checked.computed) {
    for (const Finding& finding : checked.computed->findings) {
      one["findings"].push_back(json_of(finding, checked.computed_context));
    }
    for (const Comparison& comparison : checked.computed->comparisons) {
      one["comparisons"].push_back(json_of(comparison));
    }
  }
  filter.add_to(one, scenario, checked.report.gone);
  one["exit"] = static_cast<int>(checked.report.code);
  return one;
}

static std::string said_of(const Checked& checked, const ScenarioEntry& scenario) {
  const ProofResult& proof = checked.choices.result;
  std::string text = text_of(proof, scenario, checked.choices.at);
  for (const Finding& finding : checked.found()) {
    text += text_of(finding, checked.context);
  }
  text += text_of_not_kept(checked.found_run().not_kept);
  if (checked.computed) {
    for (const Finding& finding : checked.computed->findings) {
      text += text_of(finding, checked.computed_context);
    }
    for (const Comparison& comparison : checked.computed->comparisons) {
      text += text_of(comparison) + "\n";
    }
  }
  text += ptx::demangled(scenario.info->name) + ": " + checked.verdict + "\n" +
          checked.report.suppressed;
  if (checked.report.code == ExitCode::kIncomplete && proof.verdict == ProofVerdict::kIncomplete) {
    text += "incomplete: stopped after --max-steps; raise it to see the end\n";
  }
  return text;
}

OneCheck check_one(const Session& session,
                   const ScenarioEntry& scenario,
                   const ParameterSet& parameters,
                   Filter& filter) {
  const Checked checked = check_scenario(session, scenario, parameters, filter);
  OneCheck one;
  one.report = checked.report;
  if (judges(session)) {
    one.judged = judged_of(session, checked, scenario, parameters, filter);
  }
  if (session.json()) {
    one.json = json_of(checked, scenario, filter);
  } else {
    one.text = said_of(checked, scenario);
  }
  return one;
}

ExitCode check_command(Session& session) {
  if (session.options.count("all") != 0) {
    return check_all(session);
  }
  if (!session.options["jobs"].defaulted()) {
    throw ConfigError("--jobs is for --all: one scenario is one piece of work");
  }
  const ScenarioEntry& scenario = find_scenario(session);
  const ParameterSet parameters = parameters_of(session, scenario);
  Filter filter{session};
  Pictures pictures{session};
  const OneCheck one = check_one(session, scenario, parameters, filter);
  session.judgement.all.push_back(one.judged);
  ShownRun shown{parameters, run_options(session, scenario, parameters)};
  shown.run.moves_data = false;
  write_verdict(session, pictures, scenario, shown, one.judged);
  if (session.json()) {
    write_json(session, one.json);
  } else {
    session.out << one.text;
  }
  return one.report.code;
}

}  // namespace warptwin::sim::cli
