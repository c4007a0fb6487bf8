// Run and replay.

#include <algorithm>
#include <ostream>

#include "sim/cli/commands/commands.hpp"
#include "sim/cli/engines.hpp"
#include "sim/cli/filter.hpp"
#include "sim/cli/pictures.hpp"
#include "sim/cli/ptx_engines.hpp"
#include "sim/cli/reports.hpp"
#include "sim/cli/traces.hpp"
#include "sim/json/json_text.hpp"
#include "sim/pictures/trace_recording.hpp"
#include "sim/report/explanation.hpp"
#include "sim/report/json.hpp"
#include "sim/report/proof.hpp"
#include "sim/report/text.hpp"
#include "sim/report/timing.hpp"
#include "sim/run/proof/check.hpp"
#include "sim/run/proof/choices.hpp"
#include "sim/run/replay_line.hpp"
#include "sim/run/suppressions.hpp"

namespace warptwin::sim::cli {

static void judge_run(Session& session,
                      const RunOptions& run,
                      const ScenarioEntry& scenario,
                      const ParameterSet& parameters,
                      const RunResult& result,
                      const Filter& filter) {
  Verdict verdict;
  verdict.add(part_of(result, session.options.count("strict") != 0));
  Judged judged = judged_of(scenario.info->name, parameters.to_string(), verdict);
  const ReportContext context = context_of(scenario, parameters, run.schedule, run.rules);
  for (const Finding& finding : result.findings) {
    add_finding(session, scenario, parameters, {finding, run.schedule, context}, run, judged);
  }
  const std::vector<JudgedFinding> taken = filter.taken(scenario);
  judged.findings.insert(judged.findings.end(), taken.begin(), taken.end());
  judged.not_kept = result.not_kept;
  session.judgement.all.push_back(judged);
}

// The pictures of a run, and what its page says.
static void add_pictures(const Session& session,
                         const RunOptions& run,
                         const ScenarioEntry& scenario,
                         const ParameterSet& parameters,
                         const RunResult& result,
                         RunRecorder& recorder,
                         Pictures& pictures) {
  const bool strict = session.options.count("strict") != 0;
  std::string answer = run.schedule.to_string() + ": " + result.ending() + "; " +
                       std::to_string(result.operations) + " machine operations in " +
                       std::to_string(result.stats.steps) + " steps";
  for (const Comparison& comparison : result.comparisons) {
    answer += "\n" + text_of(comparison);
  }
  PageContents contents =
      page_contents(session, scenario, parameters, exit_of(result, strict), answer);
  recorder.add(result.findings);
  contents.recordings.push_back(recorder.take());
  Recording& recording = contents.recordings.back();
  recording.source = "simulator";
  recording.machine = run.schedule.to_string();
  describe(recording, scenario, parameters, result.end);
  const ReportContext context = context_of(scenario, parameters, run.schedule, run.rules);
  Judged judged;
  for (const Finding& finding : result.findings) {
    add_finding(session, scenario, parameters, {finding, run.schedule, context}, run, judged);
  }
  contents.findings = judged.findings;
  pictures.write(session, std::move(contents));
}

static ExitCode run_once(Session& session,
                         RunOptions run,
                         const ScenarioEntry& scenario,
                         const ParameterSet& parameters) {
  const bool strict = session.options.count("strict") != 0;
  Pictures pictures{session};
  const Symbols symbols = scenario.symbols(parameters);
  const LaunchConfig config = launch_config(scenario, parameters, run);
  const auto recorder = pictures.recorder(config, symbols, RecordingClock::kSteps);
  run.observer = recorder.get();
  RunResult result = simulate(scenario, parameters, run);
  run.observer = nullptr;
  if (recorder) {
    add_pictures(session, run, scenario, parameters, result, *recorder, pictures);
  }
  Filter filter{session};
  if (const auto accepted = filter.accepts(scenario)) {
    result.accepted = std::erase_if(result.findings, accepted);
  }
  const ReportContext context = context_of(scenario, parameters, run.schedule, run.rules);
  if (run.moves_data && result.end == Ending::kDone) {
    write_outputs(session, result);
  }
  const ExitCode code = exit_of(result, strict);
  if (judges(session)) {
    judge_run(session, run, scenario, parameters, result, filter);
  }
  if (session.json()) {
    Json findings = Json::array();
    for (const Finding& finding : result.findings) {
      findings.push_back(json_of(finding, context));
    }
    Json comparisons = Json::array();
    for (const Comparison& comparison : result.comparisons) {
      comparisons.push_back(json_of(comparison));
    }
    Json report = {{"scenario", scenario.info->name},
                   {"parameters", parameters.to_string()},
                   {"schedule", context.schedule},
                   {"end", result.ending()},
                   {"steps", result.stats.steps},
                   {"operations", result.operations},
                   {"findings", findings},
                   {"not_kept", result.not_kept}};
    if (scenario.printed) {
      report["printed"] = scenario.printed();
    }
    filter.add_to(report, scenario);
    report["comparisons"] = comparisons;
    report["exit"] = static_cast<int>(code);
    write_json(session, report);
    return code;
  }
  if (scenario.printed) {
    session.out << scenario.printed();
  }
  session.out << context.scenario << "\n"
              << "schedule " << context.schedule << ": " << result.ending() << "; "
              << result.operations << " machine operations in " << result.stats.steps << " steps\n";
  for (const Finding& finding : result.findings) {
    session.out << text_of(finding, context);
  }
  session.out << text_of_not_kept(result.not_kept);
  for (const Comparison& comparison : result.comparisons) {
    session.out << text_of(comparison) << "\n";
  }
  session.out << filter.text_of_taken(scenario);
  if (code == ExitCode::kIncomplete) {
    session.out << "incomplete: stopped after --max-steps " << run.limits.steps_max
                << "; raise it to see the end\n";
  }
  if (code == ExitCode::kClean) {
    session.out << "clean in this one run"
                << (result.accepted == 0 ? "" : ", but for the suppressed") << "\n";
  }
  return code;
}

static ExitCode exit_of(const EnginesResult& result) {
  bool complete = true;
  bool agrees = true;
  for (const EnginesResult::Ran& ran : result.ran) {
    complete = complete && !ran.bounded;
    agrees = agrees && (ran.right || ran.bounded);
  }
  for (const EnginesResult::Pair& pair : result.pairs) {
    complete = complete && pair.comparison.complete;
    agrees = agrees && pair.comparison.agrees();
  }
  return !agrees ? ExitCode::kFinding : complete ? ExitCode::kClean : ExitCode::kIncomplete;
}

// On several engines, compared with each other.
static ExitCode run_on(Session& session,
                       const ScenarioEntry& scenario,
                       const ParameterSet& parameters) {
  const std::vector<EngineKind> engines = parse_engines(text_option(session, "on"));
  for (const char* option : {"in", "out", "suppress", "baseline", "write-baseline"}) {
    if (session.options.count(option) != 0) {
      throw ConfigError("--" + std::string{option} + " and --on do not go together: every engine " +
                        "draws the inputs of --seed, and its findings are shown");
    }
  }
  EnginesOptions options;
  options.run = run_options(session, scenario, parameters);
  options.chip = chip_of(session.options["chip"].as<std::string>());
  options.timing = timed_run_options(session, options.run);
  options.timing.run.schedule = {};
  options.settings = strings(session, "set");
  options.hw = hw_command_path();
  Pictures pictures{session};
  const EnginesResult result = run_on_engines(scenario, parameters, engines, options);
  if (pictures.asked()) {
    PageContents contents =
        page_contents(session, scenario, parameters, exit_of(result), text_of(result));
    for (const EnginesResult::Ran& ran : result.ran) {
      contents.recordings.push_back(recording_of(ran.trace, pictures.window()));
    }
    pictures.write(session, std::move(contents));
  }
  Verdict verdict;
  verdict.add({exit_of(result), text_of(result)});
  const ExitCode code = verdict.code();
  session.judgement.all.push_back(judged_of(scenario.info->name, parameters.to_string(), verdict));
  if (session.json()) {
    Json report = json_of(result);
    report["scenario"] = scenario.info->name;
    report["parameters"] = parameters.to_string();
    report["exit"] = static_cast<int>(code);
    session.out << text_of_json(report, 2) << "\n";
  } else {
    session.out << title_of(scenario, parameters) << "\n" << text_of(result);
  }
  return code;
}

// A launch of PTX, in the simulator and on a GPU.
static ExitCode run_ptx_on(Session& session, const ScenarioEntry& scenario) {
  const std::vector<EngineKind> engines = parse_engines(text_option(session, "on"));
  const auto asks = [&](EngineKind kind) {
    return std::find(engines.begin(), engines.end(), kind) != engines.end();
  };
  if (engines.size() != 2 || asks(EngineKind::kTimed)) {
    throw ConfigError(
        "--on takes functional,hw for a kernel in PTX: what a GPU leaves is compared with what "
        "the simulator does; 'warptwin ptx time' has its time");
  }
  for (const char* option : {"in",
                             "out",
                             "control-only",
                             "timing-only",
                             "suppress",
                             "baseline",
                             "write-baseline",
                             "html",
                             "picture",
                             "perfetto",
                             "chrome"}) {
    if (session.options.count(option) != 0) {
      throw ConfigError("--" + std::string{option} +
                        " and --on do not go together for a kernel in " +
                        "PTX: the memory that both leave is compared");
    }
  }
  const ReadLaunch read = read_launch_file(text_option(session, "ptx"),
                                           text_option(session, "launch"),
                                           session.scenarios,
                                           text_option(session, "names"));
  const ParameterSet parameters{scenario.parameters};
  const RunOptions run = run_options(session, scenario, parameters);
  const PtxEnginesResult result = run_ptx_on_engines(read, scenario, run);
  Verdict verdict;
  verdict.add({exit_of(result.functional, session.options.count("strict") != 0), ""});
  verdict.add({result.agrees() ? ExitCode::kClean : ExitCode::kFinding, text_of(result)});
  const ExitCode code = verdict.code();
  const ReportContext context = context_of(scenario, parameters, run.schedule, run.rules);
  Judged judged = judged_of(scenario.info->name, "", verdict);
  std::string findings;
  Json list = Json::array();
  for (const Finding& finding : result.functional.findings) {
    findings += text_of(finding, context);
    list.push_back(json_of(finding, context));
    add_finding(session, scenario, parameters, {finding, run.schedule, context}, run, judged);
  }
  session.judgement.all.push_back(judged);
  if (session.json()) {
    Json report = json_of(result);
    report["scenario"] = scenario.info->name;
    report["findings"] = list;
    report["exit"] = static_cast<int>(code);
    session.out << text_of_json(report, 2) << "\n";
  } else {
    session.out << context.scenario << "\n" << findings << judged.answer;
  }
  return code;
}

ExitCode run(Session& session) {
  const ScenarioEntry& scenario = find_scenario(session);
  const ParameterSet parameters = parameters_of(session, scenario);
  if (session.options.count("on") != 0 && session.options.count("ptx") != 0) {
    return run_ptx_on(session, scenario);
  }
  if (session.options.count("on") != 0) {
    return run_on(session, scenario, parameters);
  }
  RunOptions run = run_options(session, scenario, parameters);
  read_inputs(session, scenario, parameters, run);
  check_output_names(session, scenario, parameters);
  return run_once(session, run, scenario, parameters);
}

ExitCode replay(Session& session) {
  if (session.options.count("schedule") == 0) {
    throw ConfigError("replay needs --schedule, from the replay line of a finding");
  }
  return run(session);
}

}  // namespace warptwin::sim::cli
