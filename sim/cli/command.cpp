#include "sim/cli/command.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <iomanip>
#include <optional>
#include <ostream>
#include <random>
#include <set>
#include <sstream>

#include <boost/program_options.hpp>

#include "sim/cli/decode.hpp"
#include "sim/cli/engines.hpp"
#include "sim/cli/programs.hpp"
#include "sim/cli/ptx_command.hpp"
#include "sim/cli/traces.hpp"
#include "sim/micro/listing.hpp"
#include "sim/report/explanation.hpp"
#include "sim/report/json.hpp"
#include "sim/report/proof.hpp"
#include "sim/report/text.hpp"
#include "sim/report/timing.hpp"
#include "sim/run/budget.hpp"
#include "sim/run/check.hpp"
#include "sim/run/choices.hpp"
#include "sim/run/choose.hpp"
#include "sim/run/explore_run.hpp"
#include "sim/run/nearest.hpp"
#include "sim/run/npy.hpp"
#include "sim/run/program_entry.hpp"
#include "sim/run/replay_line.hpp"
#include "sim/run/suppressions.hpp"
#include "sim/trace/trace_file.hpp"

namespace warptwin::sim {

namespace {

namespace po = boost::program_options;

constexpr const char* kHelp = R"(warptwin: a digital twin of warp-specialised GPU kernels

usage: warptwin COMMAND [SCENARIO] [OPTIONS]
       warptwin run|check|explore|prove|mutate|replay --program FILE [OPTIONS]

  list                 the scenarios; with a name, its parameters; with --diagnostics, those
  explain ID           a diagnostic: what it means, the smallest program that shows it
  show SCENARIO        what a launch takes of an SM: shared memory, tensor memory, threads, waves
  run SCENARIO         one execution: computes, checks, compares with a reference; with --on,
                       one on each of several engines, which are compared
  check SCENARIO       proves it, compares its values with a reference, and tries schedules where
                       the proof cannot tell; --all checks every scenario
  explore SCENARIO     every interleaving of the barrier protocol of one run, by search: a second
                       opinion on the proof; data, memory order and allocation are not searched
  prove SCENARIO       every interleaving, from one execution; a schedule for what is broken
  replay SCENARIO      one execution again, from the replay line of a finding
  extract SCENARIO     what its warps do in one execution, as a program's text
  mutate SCENARIO      every small change of it, proved: which are found, which do no harm
  time SCENARIO        one execution in time on a chip: cycles, who waits for what, what binds
  chip show CHIP       a chip's constants, with units and sources; CHIP is a name or a file
  validate             predictions beside measurements, from a file of rows
  calibrate            fits free constants of a chip to a file of rows
  trace SCENARIO       one execution, written down for compare
  compare A B          two traces, of the simulator or a GPU: where they differ first
  decode WORD...       raw mbarrier words of a GPU: phase, arrivals, bytes
  ptx coverage FILE... which instructions of a PTX file the simulator does not have
  ptx show FILE        a PTX file decoded, with the user's lines
  make-input FILE.npy  a matrix of random numbers, float32

A parameter of a scenario is set with --set name=value. 'warptwin COMMAND --help' lists the options.

exit codes: 0 clean, 1 a finding, 2 usage or configuration, 3 internal, 4 device, 5 incomplete
(not proved, not decided, or a bound was hit)
)";

/// What a command works on.
struct Session {
  const std::vector<ScenarioEntry>& scenarios;
  po::variables_map options;
  std::ostream& out;
  std::ostream& err;
  Json chosen = nullptr;  // by auto: {parameter: value}
  bool json() const { return options.count("json") != 0; }
};

std::int64_t integer(const std::string& text, const std::string& what) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) {
    throw ConfigError(what + " takes a whole number, not '" + text + "'");
  }
  return value;
}

std::pair<std::string, std::string> name_and_value(const std::string& text, const char* option) {
  const std::size_t at = text.find('=');
  if (at == std::string::npos || at == 0) {
    throw ConfigError(std::string{option} + " takes name=value, not '" + text + "'");
  }
  return {text.substr(0, at), text.substr(at + 1)};
}

std::vector<std::string_view> scenario_names(const Session& session) {
  std::vector<std::string_view> names;
  for (const ScenarioEntry& scenario : session.scenarios) {
    names.emplace_back(scenario.info->name);
  }
  return names;
}

const ScenarioEntry& find_scenario(const Session& session) {
  if (session.options.count("program") != 0) {
    return session.scenarios.front();
  }
  if (session.options.count("target") == 0) {
    throw ConfigError("name a scenario; 'warptwin list' shows them");
  }
  const auto name = session.options["target"].as<std::string>();
  for (const ScenarioEntry& scenario : session.scenarios) {
    if (name == scenario.info->name) {
      return scenario;
    }
  }
  throw ConfigError("there is no scenario '" + name + "'" +
                    did_you_mean(name, scenario_names(session)) + " 'warptwin list' shows all");
}

std::string text_option(const Session& session, const char* option) {
  return session.options.count(option) == 0 ? "" : session.options[option].as<std::string>();
}

std::vector<std::string> strings(const Session& session, const char* option) {
  return session.options.count(option) == 0
             ? std::vector<std::string>{}
             : session.options[option].as<std::vector<std::string>>();
}

// The parameters that were set by hand: their values are not ours to vary.
std::set<std::string> set_by_hand(const Session& session) {
  std::set<std::string> names;
  for (const std::string& setting : strings(session, "set")) {
    names.insert(name_and_value(setting, "--set").first);
  }
  names.erase("auto");
  return names;
}

// With auto=1 the rest is chosen, and told.
ParameterSet parameters_of(Session& session, const ScenarioEntry& scenario) {
  ParameterSet parameters{scenario.parameters};
  bool choose = false;
  for (const std::string& setting : strings(session, "set")) {
    const auto [name, value] = name_and_value(setting, "--set");
    const std::int64_t number = integer(value, "--set " + name);
    if (name != "auto") {
      parameters.set(name, number);
    } else if (number == 0 || number == 1) {
      choose = number == 1;
    } else {
      throw ConfigError("auto=" + value + " is out of range: use 0 or 1");
    }
  }
  if (!choose) {
    return parameters;
  }
  const ChosenConfig chosen = choose_config(scenario, parameters, set_by_hand(session));
  std::string text;
  session.chosen = Json::object();
  for (const auto& [name, value] : chosen.values) {
    session.chosen[name] = value;
    text += " " + name + "=" + std::to_string(value);
  }
  if (!session.json()) {
    session.out << "chosen:" << text << "\n";
  }
  return chosen.parameters;
}

// Writes a report as JSON, with what auto chose.
void write_json(Session& session, Json report) {
  if (!session.chosen.is_null()) {
    report["chosen"] = session.chosen;
  }
  session.out << report.dump(2) << "\n";
}

std::uint64_t unsigned_option(const Session& session,
                              const char* option,
                              std::uint64_t least,
                              std::uint64_t most) {
  const std::int64_t value =
      integer(session.options[option].as<std::string>(), "--" + std::string{option});
  if (value < 0 || static_cast<std::uint64_t>(value) < least ||
      static_cast<std::uint64_t>(value) > most) {
    throw ConfigError("--" + std::string{option} + "=" + std::to_string(value) +
                      " is out of range: use " + std::to_string(least) + " to " +
                      std::to_string(most));
  }
  return static_cast<std::uint64_t>(value);
}

// A program may have a loop without an end.
constexpr std::uint64_t kProgramStepsMax = 2'000'000;
constexpr std::uint64_t kAnySeed = std::uint64_t{1} << 62;

void check_detector_names(const std::set<std::string>& names) {
  std::string known;
  std::set<std::string> missing = names;
  for (const std::string& name : detector_names()) {
    known += (known.empty() ? "" : ", ") + name;
    missing.erase(name);
  }
  if (!missing.empty()) {
    throw ConfigError("there is no detector '" + *missing.begin() + "'; there are: " + known);
  }
}

RunOptions run_options(const Session& session,
                       const ScenarioEntry& scenario,
                       const ParameterSet& parameters) {
  RunOptions run;
  choose_profile(run.rules, session.options["profile"].as<std::string>());
  if (session.options.count("rule") != 0) {
    for (const std::string& rule : session.options["rule"].as<std::vector<std::string>>()) {
      choose_rule(run.rules, rule);
    }
  }
  if (session.options.count("without") != 0) {
    const auto names = session.options["without"].as<std::vector<std::string>>();
    run.rules.without = {names.begin(), names.end()};
    check_detector_names(run.rules.without);
  }
  run.limits.steps_max = unsigned_option(session, "max-steps", 1, std::uint64_t{1} << 50);
  if (session.options.count("program") != 0 && session.options["max-steps"].defaulted()) {
    run.limits.steps_max = kProgramStepsMax;
  }
  run.input_seed = unsigned_option(session, "seed", 0, kAnySeed);
  run.resident_ctas =
      static_cast<std::uint32_t>(unsigned_option(session, "resident-ctas", 1, 4096));
  if (!session.options["resident-ctas"].defaulted()) {
    run.rules.chosen += " --resident-ctas " + session.options["resident-ctas"].as<std::string>();
  }
  if (session.options.count("sms") != 0 && !session.options["sms"].defaulted()) {
    run.sms = static_cast<std::uint32_t>(unsigned_option(session, "sms", 1, 4096));
    run.rules.chosen += " --sms " + session.options["sms"].as<std::string>();
  }
  run.moves_data = session.options.count("timing-only") == 0;
  if (session.options.count("strategy") != 0) {
    const auto strategy = session.options["strategy"].as<std::string>();
    const std::string seed = std::to_string(run.input_seed);
    run.schedule = ScheduleSpec::parse(strategy == "random" ? "random:" + seed
                                       : strategy == "pct"  ? "pct:" + seed + ":3:4096"
                                                            : strategy);
  }
  if (session.options.count("schedule") != 0) {
    run.schedule =
        parse_schedule_token(scenario, parameters, session.options["schedule"].as<std::string>());
  }
  return run;
}

void read_inputs(const Session& session,
                 const ScenarioEntry& scenario,
                 const ParameterSet& parameters,
                 RunOptions& run) {
  const Workload workload = scenario.workload(parameters);
  for (const std::string& setting : strings(session, "in")) {
    const auto [name, path] = name_and_value(setting, "--in");
    NpyMatrix matrix = read_npy(path);
    for (const TensorSpec& spec : workload.tensors) {
      if (name == spec.name && (matrix.rows != spec.rows || matrix.columns != spec.columns)) {
        throw ConfigError(
            path + ": is " + std::to_string(matrix.rows) + " x " + std::to_string(matrix.columns) +
            ", and '" + name + "' is " + std::to_string(spec.rows) + " x " +
            std::to_string(spec.columns) +
            " at these parameters; set them to fit, as in --set m=" + std::to_string(matrix.rows));
      }
    }
    run.inputs[name] = std::move(matrix.values);
  }
}

void write_outputs(const Session& session, const RunResult& result) {
  for (const std::string& setting : strings(session, "out")) {
    const auto [name, path] = name_and_value(setting, "--out");
    const auto found =
        std::find_if(result.tensors.begin(), result.tensors.end(), [n = name](const HostTensor& t) {
          return n == t.spec.name && t.spec.use == TensorUse::kOutput;
        });
    if (found == result.tensors.end()) {
      throw ConfigError("there is no output '" + name +
                        "' to write (or --timing-only computes none)");
    }
    write_npy(path, {found->spec.rows, found->spec.columns, found->values});
  }
}

void check_output_names(const Session& session,
                        const ScenarioEntry& scenario,
                        const ParameterSet& parameters) {
  const Workload workload = scenario.workload(parameters);
  for (const std::string& setting : strings(session, "out")) {
    const auto [name, path] = name_and_value(setting, "--out");
    std::string known;
    bool found = false;
    for (const TensorSpec& spec : workload.tensors) {
      if (spec.use == TensorUse::kOutput) {
        found = found || name == spec.name;
        known += (known.empty() ? "" : ", ") + std::string{spec.name};
      }
    }
    if (!found) {
      throw ConfigError("there is no output '" + name + "'; there are: " + known);
    }
  }
}

// --- Suppressed findings ----------------------------------------------------------------------

Suppressions suppressions_of(const Session& session) {
  return session.options.count("suppress") == 0
             ? Suppressions{}
             : read_suppressions(session.options["suppress"].as<std::string>(),
                                 scenario_names(session));
}

// Empty where nothing is suppressed. Holds on to both.
std::function<bool(const Finding&)> accepts(Suppressions& suppressions,
                                            const ScenarioEntry& scenario) {
  if (suppressions.empty()) {
    return {};
  }
  return [&](const Finding& finding) {
    return suppressions.accepts(scenario.info->name, finding, text_of(finding.site));
  };
}

std::string text_of_suppressed(const std::vector<const Suppression*>& rows) {
  std::string text;
  for (const Suppression* row : rows) {
    if (!row->accepted.empty()) {
      text += "suppressed: " + std::to_string(row->accepted.size()) + " (" + row->reason + "), " +
              row->id + ", by " + row->place + "\n";
    }
  }
  return text;
}

std::string text_of_unused(const std::vector<const Suppression*>& rows) {
  std::string text;
  for (const Suppression* row : rows) {
    if (row->accepted.empty()) {
      text += "warning: " + row->place + ": suppresses nothing: no " + row->id + " at '" +
              row->pattern + "' was found in " + row->scenario + "; remove the line\n";
    }
  }
  return text;
}

Json json_of_suppressed(const std::vector<const Suppression*>& rows) {
  Json all = Json::array();
  for (const Suppression* row : rows) {
    all.push_back({{"line", row->place},
                   {"id", row->id},
                   {"object", row->pattern},
                   {"reason", row->reason},
                   {"findings", row->accepted.size()}});
  }
  return all;
}

// --- Commands ---------------------------------------------------------------------------------

ExitCode list_diagnostics(const Session& session) {
  if (session.json()) {
    Json all = Json::array();
    for (const DiagnosticInfo& info : catalogue()) {
      all.push_back({{"id", info.id},
                     {"practical", warptwin::name_of(info.practical)},
                     {"strict", warptwin::name_of(info.strict)},
                     {"means", info.meaning},
                     {"micro_program", find_micro(info.id) != nullptr}});
    }
    for (const AbsentDiagnostic& absent : absent_diagnostics()) {
      all.push_back({{"id", absent.id}, {"cannot_occur", absent.reason}});
    }
    session.out << all.dump(2) << "\n";
    return ExitCode::kClean;
  }
  for (const DiagnosticInfo& info : catalogue()) {
    session.out << std::left << std::setw(32) << info.id << std::setw(9)
                << warptwin::name_of(info.practical) << info.meaning << "\n";
  }
  for (const AbsentDiagnostic& absent : absent_diagnostics()) {
    session.out << std::left << std::setw(32) << absent.id << std::setw(9) << "absent"
                << "cannot occur: " << absent.reason << "\n";
  }
  return ExitCode::kClean;
}

ExitCode list_rules(const Session& session) {
  Json all = Json::array();
  for (const RuleInfo& rule : rule_table()) {
    if (session.json()) {
      all.push_back({{"name", rule.name},
                     {"values", rule.values},
                     {"practical", rule.practical},
                     {"strict", rule.strict},
                     {"means", rule.means}});
    } else {
      session.out << rule.name << " = " << rule.values << "\n  practical: " << rule.practical
                  << "; strict: " << rule.strict << "\n  " << rule.means << "\n";
    }
  }
  if (session.json()) {
    session.out << all.dump(2) << "\n";
  }
  return ExitCode::kClean;
}

// Every id that 'explain' knows.
std::vector<std::string_view> diagnostic_ids() {
  std::vector<std::string_view> ids;
  for (const DiagnosticInfo& info : catalogue()) {
    ids.emplace_back(info.id);
  }
  for (const AbsentDiagnostic& absent : absent_diagnostics()) {
    ids.emplace_back(absent.id);
  }
  return ids;
}

ExitCode explain_absent(const Session& session, const AbsentDiagnostic& absent) {
  if (session.json()) {
    session.out << Json{{"id", absent.id}, {"cannot_occur", absent.reason}}.dump(2) << "\n";
  } else {
    session.out << absent.id << ": cannot occur here: " << absent.reason << "\n";
  }
  return ExitCode::kClean;
}

ExitCode explain_command(Session& session) {
  if (session.options.count("target") == 0) {
    throw ConfigError("name a diagnostic; 'warptwin list --diagnostics' shows them");
  }
  auto id = session.options["target"].as<std::string>();
  std::transform(id.begin(), id.end(), id.begin(), [](char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  });
  for (const AbsentDiagnostic& absent : absent_diagnostics()) {
    if (id == absent.id) {
      return explain_absent(session, absent);
    }
  }
  const DiagnosticInfo* info = find_diagnostic(id);
  if (info == nullptr) {
    throw ConfigError("there is no diagnostic '" + id + "'" +
                      did_you_mean(id, diagnostic_ids(), 3) +
                      " 'warptwin list --diagnostics' shows all");
  }
  const Explanation explanation = explain(*info, session.scenarios);
  session.out << (session.json() ? json_of(explanation).dump(2) + "\n" : text_of(explanation));
  return ExitCode::kClean;
}

ExitCode list(Session& session) {
  if (session.options.count("diagnostics") != 0) {
    return list_diagnostics(session);
  }
  if (session.options.count("rules") != 0) {
    return list_rules(session);
  }
  if (session.options.count("target") != 0) {
    const ScenarioEntry& scenario = find_scenario(session);
    if (session.json()) {
      session.out << json_of(scenario).dump(2) << "\n";
      return ExitCode::kClean;
    }
    session.out << scenario.info->name << ": " << scenario.info->summary << "\n";
    if (scenario.info->kind == ScenarioKind::kBroken) {
      session.out << "broken: expect " << scenario.info->expected << "; the right twin is "
                  << scenario.info->twin << "\n";
    }
    for (const Parameter& parameter : scenario.parameters) {
      session.out << "  " << std::left << std::setw(14) << parameter.name << std::setw(10)
                  << parameter.standard << parameter.minimum << ".." << parameter.maximum << "  "
                  << parameter.summary << "\n";
    }
    return ExitCode::kClean;
  }
  if (session.json()) {
    Json all = Json::array();
    for (const ScenarioEntry& scenario : session.scenarios) {
      all.push_back(json_of(scenario));
    }
    session.out << all.dump(2) << "\n";
    return ExitCode::kClean;
  }
  for (const ScenarioEntry& scenario : session.scenarios) {
    const bool broken = scenario.info->kind == ScenarioKind::kBroken;
    session.out << std::left << std::setw(34) << scenario.info->name << std::setw(9)
                << (broken ? "broken" : "clean") << scenario.info->summary
                << (broken ? std::string{" ["} + scenario.info->expected + "]" : "") << "\n";
  }
  return ExitCode::kClean;
}

ExitCode show(Session& session) {
  const ScenarioEntry& scenario = find_scenario(session);
  const ParameterSet parameters = parameters_of(session, scenario);
  SmLimits limits;
  limits.sms = static_cast<std::uint32_t>(unsigned_option(session, "sms", 1, 4096));
  const Budget use = budget(scenario, parameters, limits);
  if (session.json()) {
    write_json(session, json_of(use));
  } else {
    session.out << scenario.info->name << " (" << parameters.to_string() << ")\n"
                << text_of(use, limits);
  }
  return ExitCode::kClean;
}

ExitCode run_once(Session& session,
                  const RunOptions& run,
                  const ScenarioEntry& scenario,
                  const ParameterSet& parameters) {
  const bool strict = session.options.count("strict") != 0;
  RunResult result = simulate(scenario, parameters, run);
  Suppressions suppressions = suppressions_of(session);
  if (const auto accepted = accepts(suppressions, scenario)) {
    result.accepted = std::erase_if(result.findings, accepted);
  }
  const auto rows = suppressions.of(scenario.info->name);
  const ReportContext context = context_of(scenario, parameters, run.schedule, run.rules);
  if (run.moves_data && result.end == RunEnd::kDone) {
    write_outputs(session, result);
  }
  const ExitCode code = exit_of(result, strict);
  if (session.json()) {
    Json findings = Json::array();
    for (const Finding& finding : result.findings) {
      findings.push_back(json_of(finding, context));
    }
    Json comparisons = Json::array();
    for (const Comparison& comparison : result.comparisons) {
      comparisons.push_back(json_of(comparison));
    }
    const Json report = {{"scenario", scenario.info->name},
                         {"parameters", parameters.to_string()},
                         {"schedule", context.schedule},
                         {"end", text_of(result.end)},
                         {"steps", result.stats.steps},
                         {"operations", result.operations},
                         {"findings", findings},
                         {"suppressed", json_of_suppressed(rows)},
                         {"comparisons", comparisons},
                         {"exit", static_cast<int>(code)}};
    write_json(session, report);
    return code;
  }
  session.out << context.scenario << "\n"
              << "schedule " << context.schedule << ": " << text_of(result.end) << "; "
              << result.operations << " machine operations in " << result.stats.steps << " steps\n";
  for (const Finding& finding : result.findings) {
    session.out << text_of(finding, context);
  }
  for (const Comparison& comparison : result.comparisons) {
    session.out << text_of(comparison) << "\n";
  }
  session.out << text_of_suppressed(rows);
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

ExitCode prove_command(Session& session) {
  const ScenarioEntry& scenario = find_scenario(session);
  const ParameterSet parameters = parameters_of(session, scenario);
  ProofOptions options;
  options.run = run_options(session, scenario, parameters);
  options.run.moves_data = false;
  Suppressions suppressions = suppressions_of(session);
  options.accepts = accepts(suppressions, scenario);
  const ChoiceProof choices = prove_choices(scenario, parameters, set_by_hand(session), options);
  const ProofResult& result = choices.result;
  const auto rows = suppressions.of(scenario.info->name);
  ExitCode code = exit_of(choices, session.options.count("strict") != 0);
  std::vector<TripProof> trips;
  for (const std::string& name : strings(session, "for-all")) {
    trips.push_back(prove_trips(scenario, parameters, name, options));
    code = worse(code, exit_of(trips.back()));
  }
  if (session.json()) {
    Json json = json_of(result, scenario, choices.at);
    json["choices"] = choices.scope();
    json["suppressed"] = json_of_suppressed(rows);
    json["for_all"] = Json::array();
    for (const TripProof& one : trips) {
      json["for_all"].push_back(json_of(one, scenario));
    }
    json["exit"] = static_cast<int>(code);
    write_json(session, json);
    return code;
  }
  session.out << text_of(result, scenario, choices.at) << scenario.info->name << " ("
              << (result.verdict == ProofVerdict::kProved ? parameters : choices.at).to_string()
              << "): " << result.strength() << "\n"
              << text_of_suppressed(rows);
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
  const ExploreRunResult result = explore_scenario(scenario, parameters, options);
  const ExitCode code = result.verdict == Explored::kWrong   ? ExitCode::kFinding
                        : result.verdict == Explored::kRight ? ExitCode::kClean
                                                             : ExitCode::kIncomplete;
  const ReportContext context =
      context_of(scenario, parameters, result.schedule, options.run.rules);
  if (session.json()) {
    Json findings = Json::array();
    for (const Finding& finding : result.shown.findings) {
      findings.push_back(json_of(finding, context));
    }
    constexpr const char* kVerdicts[] = {"right", "wrong", "incomplete"};
    const Json report = {{"scenario", scenario.info->name},
                         {"parameters", parameters.to_string()},
                         {"verdict", kVerdicts[static_cast<unsigned>(result.verdict)]},
                         {"searched", result.searched()},
                         {"protocols", result.protocols},
                         {"agents", result.agents},
                         {"states", result.states},
                         {"transitions", result.transitions},
                         {"search", kVerdicts[static_cast<unsigned>(result.search)]},
                         {"what", result.what},
                         {"path", result.path},
                         {"schedules", result.schedules},
                         {"all_schedules", result.all_schedules},
                         {"findings", findings},
                         {"exit", static_cast<int>(code)}};
    write_json(session, report);
    return code;
  }
  for (const Finding& finding : result.shown.findings) {
    session.out << text_of(finding, context);
  }
  for (const std::string& step : result.path) {
    session.out << "  " << step << "\n";
  }
  session.out << scenario.info->name << " (" << parameters.to_string() << ")\n"
              << result.strength(options) << "\n";
  return code;
}

struct CheckReport {
  ExitCode code = ExitCode::kClean;
  bool expected_found = false;
  std::string suppressed;  // lines of what was, and of rows that suppress nothing
  bool unused = false;     // there are such rows
};

CheckOptions check_options(const Session& session, const RunOptions& run) {
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
bool tries_schedules(const Session& session, const ProofResult& proof) {
  return proof.verdict == ProofVerdict::kUndecided || proof.verdict == ProofVerdict::kUnordered ||
         proof.verdict == ProofVerdict::kAccepted || session.options.count("keep-going") != 0 ||
         session.options.count("all") != 0 || !session.options["random"].defaulted() ||
         !session.options["pct"].defaulted();
}

bool shows_id(const ProofResult& proof, const char* id) {
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
void note_suppressions(const Session& session,
                       const std::vector<const Suppression*>& rows,
                       CheckReport& report) {
  report.suppressed = text_of_suppressed(rows);
  const bool all = session.options.count("all") != 0;
  if (report.code == ExitCode::kFinding && !all && session.options.count("keep-going") == 0) {
    return;
  }
  const std::string unused = text_of_unused(rows);
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
  const std::vector<Finding>& found() const {
    static const std::vector<Finding> kNone;
    return !sampled                ? kNone
           : sampled->failing != 0 ? sampled->first_failing.findings
                                   : sampled->warnings.findings;
  }
};

void sample(const Session& session,
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

// Compares the outputs of one run with their references: what is computed depends on no schedule
// that the detectors pass. Where that is much work, only if it is asked for.
void compute(const Session& session,
             const ScenarioEntry& scenario,
             const ParameterSet& parameters,
             const CheckOptions& options,
             Checked& checked) {
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

Checked check_scenario(const Session& session,
                       const ScenarioEntry& scenario,
                       const ParameterSet& parameters,
                       Suppressions& suppressions) {
  CheckOptions options = check_options(session, run_options(session, scenario, parameters));
  options.accepts = accepts(suppressions, scenario);
  ProofOptions proof_options;
  proof_options.run = options.run;
  proof_options.run.moves_data = false;
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
  if (proof.run.end == RunEnd::kDone && proof.verdict != ProofVerdict::kRefuted) {
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
  note_suppressions(session, suppressions.of(scenario.info->name), report);
  return checked;
}

Json json_of(const Checked& checked,
             const ScenarioEntry& scenario,
             const Suppressions& suppressions) {
  Json one = json_of(checked.choices.result, scenario, checked.choices.at);
  one["choices"] = checked.choices.scope();
  one["schedules"] = checked.sampled ? checked.sampled->schedules : 0;
  one["failing"] = checked.sampled ? checked.sampled->failing : 0;
  for (const Finding& finding : checked.found()) {
    one["findings"].push_back(json_of(finding, checked.context));
  }
  one["comparisons"] = Json::array();
  if (checked.computed) {
    for (const Finding& finding : checked.computed->findings) {
      one["findings"].push_back(json_of(finding, checked.computed_context));
    }
    for (const Comparison& comparison : checked.computed->comparisons) {
      one["comparisons"].push_back(json_of(comparison));
    }
  }
  one["suppressed"] = json_of_suppressed(suppressions.of(scenario.info->name));
  one["exit"] = static_cast<int>(checked.report.code);
  return one;
}

std::string said_of(const Checked& checked, const ScenarioEntry& scenario) {
  const ProofResult& proof = checked.choices.result;
  std::string text = text_of(proof, scenario, checked.choices.at);
  for (const Finding& finding : checked.found()) {
    text += text_of(finding, checked.context);
  }
  if (checked.computed) {
    for (const Finding& finding : checked.computed->findings) {
      text += text_of(finding, checked.computed_context);
    }
    for (const Comparison& comparison : checked.computed->comparisons) {
      text += text_of(comparison) + "\n";
    }
  }
  text +=
      std::string{scenario.info->name} + ": " + checked.verdict + "\n" + checked.report.suppressed;
  if (checked.report.code == ExitCode::kIncomplete && proof.verdict == ProofVerdict::kIncomplete) {
    text += "incomplete: stopped after --max-steps; raise it to see the end\n";
  }
  return text;
}

CheckReport check_one(const Session& session,
                      const ScenarioEntry& scenario,
                      const ParameterSet& parameters,
                      Suppressions& suppressions,
                      Json* json) {
  const Checked checked = check_scenario(session, scenario, parameters, suppressions);
  if (json != nullptr) {
    json->push_back(json_of(checked, scenario, suppressions));
  } else {
    session.out << said_of(checked, scenario);
  }
  return checked.report;
}

// What is said of a scenario without a fault.
const char* said_of(ExitCode code) {
  return code == ExitCode::kClean        ? "clean"
         : code == ExitCode::kIncomplete ? "not proved"
         : code == ExitCode::kInternal   ? "an internal error"
                                         : "a finding";
}

// Every scenario at its defaults: clean ones must be clean, broken ones found with their id.
ExitCode check_all(Session& session) {
  Json json = Json::array();
  Suppressions suppressions = suppressions_of(session);
  std::uint32_t wrong = 0;
  std::uint32_t number = 0;
  for (const ScenarioEntry& scenario : session.scenarios) {
    ++number;
    std::ostringstream details;
    Session quiet{session.scenarios, session.options, details, session.err};
    const CheckReport report = check_one(quiet,
                                         scenario,
                                         ParameterSet{scenario.parameters},
                                         suppressions,
                                         session.json() ? &json : nullptr);
    const bool broken = scenario.info->kind == ScenarioKind::kBroken;
    const bool right = !report.unused && report.code != ExitCode::kInternal &&
                       (broken ? report.expected_found : report.code == ExitCode::kClean);
    wrong += right ? 0 : 1;
    if (!session.json()) {
      session.out << "[" << number << "/" << session.scenarios.size() << "] " << std::left
                  << std::setw(34) << scenario.info->name
                  << (right ? "as expected: " : "NOT AS EXPECTED: ")
                  << (broken ? std::string{report.expected_found ? "found " : "did not find "} +
                                   scenario.info->expected
                             : said_of(report.code))
                  << std::endl;
      session.out << (right ? report.suppressed : details.str());
    }
  }
  if (session.json()) {
    session.out << json.dump(2) << "\n";
  } else {
    session.out << (session.scenarios.size() - wrong) << " of " << session.scenarios.size()
                << " as expected\n";
  }
  return wrong == 0 ? ExitCode::kClean : ExitCode::kFinding;
}

ExitCode check_command(Session& session) {
  if (session.options.count("all") != 0) {
    return check_all(session);
  }
  const ScenarioEntry& scenario = find_scenario(session);
  const ParameterSet parameters = parameters_of(session, scenario);
  Json json = Json::array();
  Suppressions suppressions = suppressions_of(session);
  const CheckReport report =
      check_one(session, scenario, parameters, suppressions, session.json() ? &json : nullptr);
  if (session.json()) {
    write_json(session, json[0]);
  }
  return report.code;
}

// --- Time -------------------------------------------------------------------------------------

Chip chip_of(const std::string& name_or_file) {
  try {
    return load_chip(name_or_file);
  } catch (const ChipError& error) {
    throw ConfigError(error.what());
  }
}

ExitCode chip_command(Session& session) {
  if (session.options.count("target") == 0) {
    std::string names;
    for (const std::string_view name : shipped_chips()) {
      names += (names.empty() ? "" : ", ") + std::string{name};
    }
    throw ConfigError("name a chip or its file; there are: " + names);
  }
  const Chip chip = chip_of(session.options["target"].as<std::string>());
  session.out << (session.json() ? json_of(chip).dump(2) + "\n" : text_of(chip));
  return ExitCode::kClean;
}

double clock_option(const Session& session) {
  if (session.options.count("clock") == 0) {
    return 0;
  }
  const auto text = session.options["clock"].as<std::string>();
  char* end = nullptr;
  const double clock = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !(clock >= 0.1 && clock <= 10)) {
    throw ConfigError("--clock takes GHz from 0.1 to 10, not '" + text + "'");
  }
  return clock;
}

TimingOptions timing_options(const Session& session) {
  TimingOptions options;
  options.clock = clock_option(session);
  const auto l2 = session.options["l2"].as<std::string>();
  if (l2 != "cold" && l2 != "warm") {
    throw ConfigError("--l2 is cold or warm, not '" + l2 + "'");
  }
  options.l2_warm = l2 == "warm";
  return options;
}

// As many CTAs at a time as the chip has room for, unless it is said how many.
TimingOptions timed_run_options(const Session& session, const RunOptions& run) {
  TimingOptions options = timing_options(session);
  options.run = run;
  if (!session.options["resident-ctas"].defaulted()) {
    options.resident_ctas = run.resident_ctas;
  }
  if (session.options.count("ctas-per-sm") != 0) {
    options.ctas_per_sm =
        static_cast<std::uint32_t>(unsigned_option(session, "ctas-per-sm", 1, 1024));
  }
  return options;
}

// The rules of a run in time, with what puts the CTAs of a replay where they were in it.
Rules rules_of(const TimingOptions& options,
               const TimingResult& timing,
               const Workload& workload,
               const Chip& chip) {
  Rules rules = options.run.rules;
  const bool shared = timing.resident_ctas > chip.sms;
  const bool usual = timing.resident_ctas == resident_ctas(workload, RunOptions{}.resident_ctas);
  if (options.resident_ctas == 0 && (shared || !usual)) {
    rules.chosen += " --resident-ctas " + std::to_string(timing.resident_ctas);
  }
  if (shared) {
    rules.chosen += " --sms " + std::to_string(static_cast<std::uint32_t>(chip.sms));
  }
  return rules;
}

ExitCode time_command(Session& session) {
  const ScenarioEntry& scenario = find_scenario(session);
  const ParameterSet parameters = parameters_of(session, scenario);
  const Chip chip = chip_of(session.options["chip"].as<std::string>());
  TimingOptions options = timed_run_options(session, run_options(session, scenario, parameters));
  options.path = session.options.count("path") != 0 || session.options.count("no-check") == 0;
  options.run.moves_data = false;
  options.run.detect = session.options.count("no-check") == 0;
  const TimingResult timing = time_scenario(scenario, parameters, chip, options);
  const ExitCode code = exit_of(timing.run, session.options.count("strict") != 0);
  ScheduleSpec schedule;
  schedule.strategy = Strategy::kReplay;
  schedule.choices = timing.run.findings.empty() ? std::vector<Slot>{} : timing.run.choices;
  const ReportContext context =
      context_of(scenario,
                 parameters,
                 schedule,
                 rules_of(options, timing, scenario.workload(parameters), chip));
  if (session.json()) {
    Json report = json_of(timing);
    report["scenario"] = scenario.info->name;
    report["parameters"] = parameters.to_string();
    report["chip"] = chip.name;
    report["checked"] = options.run.detect;
    report["end"] = text_of(timing.run.end);
    report["findings"] = Json::array();
    for (const Finding& finding : timing.run.findings) {
      report["findings"].push_back(json_of(finding, context));
    }
    report["exit"] = static_cast<int>(code);
    write_json(session, report);
    return code;
  }
  session.out << scenario.info->name << " (" << parameters.to_string() << ") on " << chip.name
              << "\n"
              << text_of(timing);
  for (const Finding& finding : timing.run.findings) {
    session.out << text_of(finding, context);
  }
  session.out << (options.run.detect
                      ? code == ExitCode::kClean ? "checked: clean in this one run" : "checked"
                      : "not checked")
              << "; " << text_of(timing.run.end) << "\n";
  return code;
}

ExitCode exit_of(const EnginesResult& result) {
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
ExitCode run_on(Session& session, const ScenarioEntry& scenario, const ParameterSet& parameters) {
  const std::vector<EngineKind> engines = parse_engines(text_option(session, "on"));
  for (const char* option : {"in", "out", "suppress"}) {
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
  const EnginesResult result = run_on_engines(scenario, parameters, engines, options);
  const ExitCode code = exit_of(result);
  if (session.json()) {
    Json report = json_of(result);
    report["scenario"] = scenario.info->name;
    report["parameters"] = parameters.to_string();
    report["exit"] = static_cast<int>(code);
    session.out << report.dump(2) << "\n";
  } else {
    session.out << scenario.info->name << " (" << parameters.to_string() << ")\n"
                << text_of(result);
  }
  return code;
}

ExitCode run(Session& session) {
  const ScenarioEntry& scenario = find_scenario(session);
  const ParameterSet parameters = parameters_of(session, scenario);
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

// The rows of all files that are named; with --split those of it alone.
std::vector<MeasuredRow> rows_of(const Session& session) {
  const std::vector<std::string> paths = strings(session, "data");
  if (paths.empty()) {
    throw ConfigError("name a file of measurements, as in --data rows.json");
  }
  std::vector<MeasuredRow> rows;
  for (const std::string& path : paths) {
    for (MeasuredRow& row : read_measured_rows(path)) {
      rows.push_back(std::move(row));
    }
  }
  if (session.options.count("split") != 0) {
    const auto wanted = session.options["split"].as<std::string>();
    std::erase_if(rows, [&](const MeasuredRow& row) { return row.split != wanted; });
    if (rows.empty()) {
      throw ConfigError("no row has the split '" + wanted + "'");
    }
  }
  return rows;
}

std::string source_of_fit(const Session& session) {
  std::string source = "fitted by 'warptwin calibrate' to";
  for (const std::string& path : strings(session, "data")) {
    source += " " + path;
  }
  return session.options.count("split") == 0
             ? source
             : source + ", split " + session.options["split"].as<std::string>();
}

// A row that could not be judged is listed with its reason, and leaves the answer incomplete.
ExitCode code_of(const Validation& result) {
  return result.rows.empty() || !result.skipped.empty() ? ExitCode::kIncomplete : ExitCode::kClean;
}

// Rows run on the chip they name, unless one is named here.
ExitCode validate_command(Session& session) {
  const std::vector<MeasuredRow> rows = rows_of(session);
  std::optional<Chip> chip;
  if (!session.options["chip"].defaulted()) {
    chip = chip_of(session.options["chip"].as<std::string>());
  }
  const Validation result = validate(rows, session.scenarios, chip ? &*chip : nullptr);
  session.out << (session.json() ? json_of(result).dump(2) + "\n" : text_of(result));
  return code_of(result);
}

ExitCode calibrate_command(Session& session) {
  const std::vector<MeasuredRow> rows = rows_of(session);
  const Chip chip = chip_of(session.options["chip"].as<std::string>());
  std::vector<std::string> keys = strings(session, "free");
  if (keys.empty()) {
    keys = free_constants(chip);
  }
  Calibration result = calibrate(rows, session.scenarios, chip, keys);
  for (const FittedConstant& constant : result.constants) {
    result.chip.sources[constant.key] = source_of_fit(session);
  }
  session.out << (session.json() ? json_of(result).dump(2) + "\n" : text_of(result));
  if (session.options.count("write-chip") != 0) {
    const auto path = session.options["write-chip"].as<std::string>();
    std::ofstream file{path};
    if (!(file << json_of(result.chip).dump(2) << "\n")) {
      throw ConfigError(path + ": cannot be written");
    }
  }
  return code_of(result.after);
}

ExitCode make_input(Session& session) {
  if (session.options.count("target") == 0) {
    throw ConfigError("name the file to write, as in: warptwin make-input --shape 300x512 a.npy");
  }
  const auto shape = session.options["shape"].as<std::string>();
  const std::size_t at = shape.find('x');
  if (at == std::string::npos) {
    throw ConfigError("--shape takes ROWSxCOLUMNS, as in 300x512, not '" + shape + "'");
  }
  const std::int64_t rows = integer(shape.substr(0, at), "--shape");
  const std::int64_t columns = integer(shape.substr(at + 1), "--shape");
  constexpr std::int64_t kMost = 1 << 20;
  if (rows < 1 || columns < 1 || rows > kMost || columns > kMost ||
      rows * columns > (std::int64_t{1} << 30)) {
    throw ConfigError("--shape " + shape +
                      " is empty or too large: at most 2^20 a side and 2^30 elements");
  }
  std::mt19937_64 random{unsigned_option(session, "seed", 0, kAnySeed)};
  NpyMatrix matrix{static_cast<std::uint32_t>(rows), static_cast<std::uint32_t>(columns), {}};
  matrix.values.resize(static_cast<std::size_t>(rows * columns));
  for (float& value : matrix.values) {
    value = static_cast<float>(static_cast<double>(random() >> 40) / double{1 << 23} - 1.0);
  }
  write_npy(session.options["target"].as<std::string>(), matrix);
  return ExitCode::kClean;
}

ExitCode trace_command(Session& session) {
  const ScenarioEntry& scenario = find_scenario(session);
  const ParameterSet parameters = parameters_of(session, scenario);
  const std::string path = text_option(session, "to");
  if (path.empty()) {
    throw ConfigError("trace needs --to FILE, to write to");
  }
  const std::string engine = text_option(session, "on");
  if (!engine.empty() && engine != "functional" && engine != "timed") {
    throw ConfigError("--on takes functional or timed here, not '" + engine + "'");
  }
  RunOptions options = run_options(session, scenario, parameters);
  options.moves_data = session.options.count("values") != 0;
  TimingResult timed;
  Trace trace;
  if (engine == "timed") {
    const Chip chip = chip_of(session.options["chip"].as<std::string>());
    trace = timed_trace(scenario, parameters, chip, timed_run_options(session, options), timed);
  } else {
    trace = simulated_trace(scenario, parameters, options, timed.run);
  }
  try {
    write_trace_file(trace, path);
  } catch (const TraceError& error) {
    throw ConfigError(error.what());
  }
  session.out << trace.scenario << ": " << trace.ending << ", " << timed.run.operations
              << " operations, written to " << path << "\n";
  return exit_of(timed.run, session.options.count("strict") != 0);
}

ProgramRequest program_request(Session& session) {
  ProgramRequest request;
  request.scenario = &find_scenario(session);
  request.program = text_option(session, "program");
  request.parameters = parameters_of(session, *request.scenario);
  request.fixed = set_by_hand(session);
  request.run = run_options(session, *request.scenario, *request.parameters);
  request.json = session.json();
  return request;
}

ExitCode extract_command(Session& session) {
  print_extracted(program_request(session), session.out);
  return ExitCode::kClean;
}

ExitCode mutate_command(Session& session) {
  const ProgramRequest request = program_request(session);
  if (session.options.count("mutant") != 0) {
    print_mutant(request, unsigned_option(session, "mutant", 0, 1U << 30), session.out);
    return ExitCode::kClean;
  }
  const auto limit = static_cast<std::uint32_t>(unsigned_option(session, "limit", 0, 1U << 30));
  return mutate_and_print(request, limit, session.out) ? ExitCode::kClean : ExitCode::kFinding;
}

ExitCode compare_command(Session& session) {
  switch (compare_files(strings(session, "words"), session.json(), session.out)) {
    case CompareVerdict::kAgrees:
      return ExitCode::kClean;
    case CompareVerdict::kDiffers:
      return ExitCode::kFinding;
    case CompareVerdict::kIncomplete:
      return ExitCode::kIncomplete;
  }
  return ExitCode::kInternal;
}

ExitCode decode_command(Session& session) {
  decode_words(
      strings(session, "words"), text_option(session, "name"), session.json(), session.out);
  return ExitCode::kClean;
}

ExitCode ptx_command(Session& session) {
  return ptx({strings(session, "words"), text_option(session, "kernel"), session.json()},
             session.out);
}

struct Command {
  const char* name;
  ExitCode (*run)(Session&);
  const char* options;         // names of the options it takes
  const char* verb = nullptr;  // a word that comes before its arguments
  bool takes_many = false;     // operands, in "words"; else at most one, in "target"
};

constexpr Command kCommands[] = {
    {"list", list, "json diagnostics rules"},
    {"explain", explain_command, "json"},
    {"show", show, "json set sms"},
    {"run",
     run,
     "json program set in out on chip clock l2 strategy seed profile rule without strict max-steps "
     "timing-only resident-ctas suppress"},
    {"check",
     check_command,
     "json program set seed profile rule without strict max-steps random pct depth data keep-going "
     "all resident-ctas suppress"},
    {"prove",
     prove_command,
     "json program set for-all profile rule without strict max-steps resident-ctas seed suppress"},
    {"explore",
     explore_command,
     "json program set profile rule without seed max-steps max-states full deviations "
     "max-schedules resident-ctas"},
    {"replay",
     replay,
     "json program set in out schedule seed profile rule without strict max-steps timing-only "
     "resident-ctas sms suppress"},
    {"extract", extract_command, "set seed profile rule max-steps resident-ctas"},
    {"mutate",
     mutate_command,
     "json program set limit mutant seed profile rule without max-steps resident-ctas"},
    {"time",
     time_command,
     "json set chip clock l2 no-check path profile rule without strict max-steps resident-ctas "
     "ctas-per-sm seed"},
    {"chip", chip_command, "json", "show"},
    {"validate", validate_command, "json rows chip"},
    {"calibrate", calibrate_command, "json rows chip free write-chip"},
    {"trace",
     trace_command,
     "set to on values chip clock l2 strategy schedule seed profile rule without strict max-steps "
     "resident-ctas"},
    {"compare", compare_command, "json", nullptr, true},
    {"decode", decode_command, "json name", nullptr, true},
    {"ptx", ptx_command, "json kernel", nullptr, true},
    {"make-input", make_input, "shape seed"},
};

po::options_description all_options() {
  po::options_description all{"options"};
  const auto text = [] { return po::value<std::string>(); };
  all.add_options()("help,h", "this text")("json", "the result as JSON")(
      "program", text(), "FILE: a program as text, instead of a scenario; see docs/programs.md")(
      "set",
      po::value<std::vector<std::string>>()->composing(),
      "name=value: a parameter of the scenario; auto=1 chooses those of a GEMM that are not set")(
      "in",
      po::value<std::vector<std::string>>()->composing(),
      "name=FILE.npy: an input tensor, float32, 2-D")(
      "out",
      po::value<std::vector<std::string>>()->composing(),
      "name=FILE.npy: writes an output tensor")(
      "strategy",
      text(),
      "round-robin, random, pct, starve:AGENT, lazy:AGENT, or one with its numbers: random:7")(
      "schedule", text(), "the schedule of a replay line")(
      "seed", text()->default_value("1"), "of inputs and schedules")(
      "profile",
      text()->default_value("practical"),
      "practical or strict: how severe each diagnostic is")(
      "rule",
      po::value<std::vector<std::string>>()->composing(),
      "name=value: how to take what the manual leaves open; `list --rules` has them")(
      "rules", "the rules that can be chosen")("without",
                                               po::value<std::vector<std::string>>()->composing(),
                                               "NAME: a detector that is left out")(
      "strict", "exit 1 for warnings too")(
      "max-steps", text()->default_value("200000000"), "stop an execution that takes more steps")(
      "timing-only", "move control data only; compute nothing")(
      "resident-ctas", text()->default_value("148"), "CTAs on the machine at a time")(
      "random", text()->default_value("48"), "random schedules to try")(
      "pct", text()->default_value("48"), "schedules of random priorities to try")(
      "depth", text()->default_value("3"), "priority changes of those, plus one")(
      "data", "compare values also where there are many to compute")(
      "keep-going", "try all schedules even after a finding")(
      "for-all",
      po::value<std::vector<std::string>>()->composing(),
      "NAME: a trip count of the scenario; tries to prove every value of it")(
      "limit", text()->default_value("0"), "mutants to judge, evenly spread; 0: all")(
      "mutant", text(), "N: writes mutant N as a program, and judges nothing")(
      "max-states", text()->default_value("100000000"), "stop a search that meets more states")(
      "full", "search without reduction and symmetry")(
      "deviations",
      text()->default_value("1"),
      "how often a schedule of the kernel may depart from taking turns")(
      "max-schedules", text()->default_value("20000"), "stop after so many of those")(
      "all", "every scenario at its defaults, against what is expected of it")(
      "sms",
      text()->default_value("148"),
      "SMs of the GPU (148: B200; 132: H200); of a replay: that share the CTAs, one each first")(
      "ctas-per-sm", text(), "CTAs of an SM at a time, at most, where more of them fit")(
      "diagnostics", "what can be reported")("to", text(), "FILE: where the trace goes")(
      "on", text(), "functional, timed (on a chip), hw (the GPU): which engine, or several")(
      "values", "with what was computed, and what the copies brought")(
      "kernel", text(), "NAME: of a PTX file, this function alone")(
      "name", text(), "of the barriers, as input.full: what each is called")(
      "suppress", text(), "FILE: findings that are known, which then fail nothing")(
      "shape", text()->default_value("512x512"), "ROWSxCOLUMNS")(
      "chip", text()->default_value("b200"), "a chip's name or its file; see 'warptwin chip show'")(
      "clock", text(), "GHz, instead of the chip's")(
      "l2", text()->default_value("cold"), "cold or warm: whether inputs that fit are in L2")(
      "no-check", "the time alone: without the detectors and the critical path")(
      "path", "the critical path and slack, with --no-check too")(
      "free",
      po::value<std::vector<std::string>>()->composing(),
      "a constant to fit, at most five; without it those of the loads' latency, the ports and the "
      "power cap")("write-chip", text(), "FILE: the fitted chip");
  return all;
}

// The options one command takes.
po::options_description options_of(const Command& command) {
  po::options_description options{"options"};
  std::istringstream names{std::string{"help "} + command.options};
  const po::options_description all = all_options();
  for (std::string name; names >> name;) {
    if (name == "rows") {  // another --data than that of 'check'
      options.add_options()("data",
                            po::value<std::vector<std::string>>()->composing(),
                            "FILE.json: measured rows; may be given several times")(
          "split", po::value<std::string>(), "NAME: only the rows whose 'split' it is");
    }
    for (const auto& option : all.options()) {
      if (option->long_name() == name) {
        options.add(option);
      }
    }
  }
  return options;
}

const Command& find_command(const std::string& name) {
  for (const Command& command : kCommands) {
    if (name == command.name) {
      return command;
    }
  }
  throw ConfigError("there is no command '" + name + "'; 'warptwin --help' lists them");
}

ExitCode parse_and_run(const std::vector<std::string>& arguments,
                       const std::vector<ScenarioEntry>& scenarios,
                       std::ostream& out,
                       std::ostream& err) {
  if (arguments.empty() || arguments[0] == "--help" || arguments[0] == "-h" ||
      arguments[0] == "help") {
    (arguments.empty() ? err : out) << kHelp;
    return arguments.empty() ? ExitCode::kUsage : ExitCode::kClean;
  }
  const Command& command = find_command(arguments[0]);
  const po::options_description visible = options_of(command);
  po::options_description accepted = visible;
  accepted.add_options()("target", po::value<std::string>(), "")(
      "words", po::value<std::vector<std::string>>(), "");
  po::positional_options_description positions;
  positions.add(command.takes_many ? "words" : "target", command.takes_many ? -1 : 1);
  po::variables_map options;
  std::vector<std::string> rest(arguments.begin() + 1, arguments.end());
  if (command.verb != nullptr && !rest.empty() && rest[0] == command.verb) {
    rest.erase(rest.begin());
  }
  namespace style = po::command_line_style;
  po::store(po::command_line_parser(rest)
                .options(accepted)
                .positional(positions)
                .style(style::unix_style & ~style::allow_guessing)
                .run(),
            options);
  po::notify(options);
  if (options.count("help") != 0) {
    out << "usage: warptwin " << command.name << " ...\n" << visible;
    return ExitCode::kClean;
  }
  std::vector<ScenarioEntry> program;
  if (options.count("program") != 0) {
    if (options.count("target") != 0 || options.count("on") != 0 || options.count("all") != 0) {
      throw ConfigError("--program is instead of a scenario, and goes with neither --on nor --all");
    }
    program.push_back(entry_of_file(options["program"].as<std::string>()));
  }
  Session session{program.empty() ? scenarios : program, std::move(options), out, err};
  return command.run(session);
}

}  // namespace

ExitCode run_command(const std::vector<std::string>& arguments,
                     const std::vector<ScenarioEntry>& scenarios,
                     std::ostream& out,
                     std::ostream& err) {
  try {
    return parse_and_run(arguments, scenarios, out, err);
  } catch (const ConfigError& error) {
    err << "config: " << error.what() << "\n";
  } catch (const po::error& error) {
    err << "config: " << error.what() << "; see 'warptwin --help'\n";
  }
  return ExitCode::kUsage;
}

}  // namespace warptwin::sim
