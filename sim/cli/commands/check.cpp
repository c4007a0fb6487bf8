// Check, of one scenario.

#include "sim/cli/commands/check.hpp"

#include <ostream>

#include "sim/cli/commands/commands.hpp"
#include "sim/cli/pictures.hpp"
#include "sim/cli/reports.hpp"
#include "sim/ptx/text/demangled.hpp"
#include "sim/report/json.hpp"
#include "sim/report/proof.hpp"
#include "sim/report/text.hpp"
#include "sim/verdict/judge_launch.hpp"

namespace warptwin::sim::cli {

static JudgeOptions judge_options(const Session& session,
                                  const ScenarioEntry& scenario,
                                  const ParameterSet& parameters,
                                  Filter& filter) {
  const auto set = [&](const char* option) { return session.options.count(option) != 0; };
  JudgeOptions options;
  CheckOptions& check = options.check;
  check.run = run_options(session, scenario, parameters);
  check.seed = unsigned_option(session, "seed", 0, kAnySeed);
  check.random = static_cast<std::uint32_t>(unsigned_option(session, "random", 0, 10'000'000));
  check.pct = static_cast<std::uint32_t>(unsigned_option(session, "pct", 0, 10'000'000));
  check.pct_depth = static_cast<std::uint32_t>(unsigned_option(session, "depth", 1, 64));
  check.keep_going = set("keep-going") || set("all");
  check.accepts = filter.accepts(scenario);
  options.fixed = set_by_hand(session);
  options.control_only = set("control-only");
  options.strict = set("strict");
  options.always_computes = set("data");
  options.always_samples = check.keep_going || !session.options["random"].defaulted() ||
                           !session.options["pct"].defaulted();
  return options;
}

// What is said of one scenario, and where what was found in it can be seen again.
struct Checked {
  LaunchVerdict launch;
  ReportContext found_context;     // of launch.found_run()
  ReportContext computed_context;  // of launch.computed
  CheckReport report;

  const ProofResult& proof() const { return launch.choices.result; }
  const std::vector<Finding>& found() const { return launch.found_run().findings; }
};

// A row that suppresses nothing is a warning: it fails what warnings fail. Where the check stopped
// at a defect, nothing is said of such rows.
static void note_suppressions(const Session& session,
                              const ScenarioEntry& scenario,
                              const Filter& filter,
                              Checked& checked) {
  CheckReport& report = checked.report;
  report.suppressed = filter.text_of_taken(scenario);
  const bool all = session.options.count("all") != 0;
  if (checked.launch.verdict.code() == ExitCode::kFinding && !all &&
      session.options.count("keep-going") == 0) {
    return;
  }
  report.suppressed += filter.text_of_gone(scenario);
  report.gone = filter.gone(scenario);
  const std::string unused = text_of_unused(filter.rows(scenario));
  report.suppressed += unused;
  report.unused = !unused.empty();
  if (report.unused && (all || session.options.count("strict") != 0)) {
    checked.launch.verdict.add({ExitCode::kFinding, ""});
  }
}

static Checked check_scenario(const Session& session,
                              const ScenarioEntry& scenario,
                              const ParameterSet& parameters,
                              Filter& filter) {
  const JudgeOptions options = judge_options(session, scenario, parameters, filter);
  const RunOptions& run = options.check.run;
  Checked checked{judge_launch(scenario, parameters, options), {}, {}, {}};
  const LaunchVerdict& launch = checked.launch;
  if (launch.sampled) {
    checked.found_context = context_of(scenario, launch.sampled_at, launch.found_in(), run.rules);
  }
  checked.computed_context = context_of(scenario, parameters, launch.computed_in, run.rules);
  note_suppressions(session, scenario, filter, checked);
  checked.report.code = launch.verdict.code();
  checked.report.expected_found = launch.expected_found;
  return checked;
}

static Judged judged_of(const Session& session,
                        const Checked& checked,
                        const ScenarioEntry& scenario,
                        const ParameterSet& parameters,
                        const Filter& filter) {
  const LaunchVerdict& launch = checked.launch;
  const ParameterSet& at = launch.choices.at;
  Judged judged = sim::judged_of(scenario.info->name, at.to_string(), launch.verdict);
  judged.gone = checked.report.gone;
  RunOptions run = run_options(session, scenario, parameters);
  add_proof(session, scenario, at, checked.proof(), run, judged);
  run.moves_data = checked.proof().data_decides;
  for (const Finding& finding : checked.found()) {
    add_finding(
        session, scenario, at, {finding, launch.found_in(), checked.found_context}, run, judged);
  }
  if (launch.computed) {
    for (const Finding& finding : launch.computed->findings) {
      add_finding(session,
                  scenario,
                  parameters,
                  {finding, launch.computed_in, checked.computed_context},
                  run,
                  judged);
    }
  }
  const std::vector<JudgedFinding> taken = filter.taken(scenario);
  judged.findings.insert(judged.findings.end(), taken.begin(), taken.end());
  judged.not_kept += launch.found_run().not_kept;
  return judged;
}

static Json json_of(const Checked& checked, const ScenarioEntry& scenario, const Filter& filter) {
  const LaunchVerdict& launch = checked.launch;
  Json one = json_of(checked.proof(), scenario, launch.choices.at);
  one["choices"] = launch.choices.scope();
  one["schedules"] = launch.sampled ? launch.sampled->schedules : 0;
  one["failing"] = launch.sampled ? launch.sampled->failing : 0;
  for (const Finding& finding : checked.found()) {
    one["findings"].push_back(json_of(finding, checked.found_context));
  }
  one["not_kept"] = launch.not_kept();
  one["comparisons"] = Json::array();
  if (launch.computed) {
    for (const Finding& finding : launch.computed->findings) {
      one["findings"].push_back(json_of(finding, checked.computed_context));
    }
    for (const Comparison& comparison : launch.computed->comparisons) {
      one["comparisons"].push_back(json_of(comparison));
    }
  }
  filter.add_to(one, scenario, checked.report.gone);
  one["exit"] = static_cast<int>(checked.report.code);
  return one;
}

static std::string said_of(const Checked& checked, const ScenarioEntry& scenario) {
  const LaunchVerdict& launch = checked.launch;
  std::string text = text_of(checked.proof(), scenario, launch.choices.at);
  for (const Finding& finding : checked.found()) {
    text += text_of(finding, checked.found_context);
  }
  text += text_of_not_kept(launch.found_run().not_kept);
  if (launch.computed) {
    for (const Finding& finding : launch.computed->findings) {
      text += text_of(finding, checked.computed_context);
    }
    for (const Comparison& comparison : launch.computed->comparisons) {
      text += text_of(comparison) + "\n";
    }
  }
  text += ptx::demangled(scenario.info->name) + ": " + launch.verdict.words() + "\n" +
          checked.report.suppressed;
  if (checked.report.code == ExitCode::kIncomplete &&
      checked.proof().verdict == ProofVerdict::kIncomplete) {
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
