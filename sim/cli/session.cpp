#include "sim/cli/session.hpp"

#include <algorithm>
#include <charconv>
#include <ostream>
#include <set>

#include "sim/json/json_text.hpp"
#include "sim/report/json.hpp"
#include "sim/run/choose.hpp"
#include "sim/run/nearest.hpp"
#include "sim/run/npy.hpp"
#include "sim/run/proof/check.hpp"
#include "sim/run/replay_line.hpp"
#include "sim/run/suppressions.hpp"

namespace warptwin::sim::cli {

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

bool of_file(const Session& session) {
  return session.options.count("program") != 0 || session.options.count("ptx") != 0;
}

const ScenarioEntry& find_scenario(const Session& session) {
  if (of_file(session)) {
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

std::set<std::string> set_by_hand(const Session& session) {
  std::set<std::string> names;
  for (const std::string& setting : strings(session, "set")) {
    names.insert(name_and_value(setting, "--set").first);
  }
  names.erase("auto");
  return names;
}

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

void write_json(Session& session, Json report) {
  if (!session.chosen.is_null()) {
    report["chosen"] = session.chosen;
  }
  session.out << text_of_json(report, 2) << "\n";
}

std::uint64_t unsigned_option(const po::variables_map& options,
                              const char* option,
                              std::uint64_t least,
                              std::uint64_t most) {
  const std::int64_t value = integer(options[option].as<std::string>(), "--" + std::string{option});
  if (value < 0 || static_cast<std::uint64_t>(value) < least ||
      static_cast<std::uint64_t>(value) > most) {
    throw ConfigError("--" + std::string{option} + "=" + std::to_string(value) +
                      " is out of range: use " + std::to_string(least) + " to " +
                      std::to_string(most));
  }
  return static_cast<std::uint64_t>(value);
}

std::uint64_t unsigned_option(const Session& session,
                              const char* option,
                              std::uint64_t least,
                              std::uint64_t most) {
  return unsigned_option(session.options, option, least, most);
}

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
      std::max(static_cast<std::uint32_t>(unsigned_option(session, "resident-ctas", 1, 4096)),
               scenario.resident_ctas_least);
  if (!session.options["resident-ctas"].defaulted()) {
    run.rules.chosen += " --resident-ctas " + session.options["resident-ctas"].as<std::string>();
  }
  if (session.options.count("sms") != 0 && !session.options["sms"].defaulted()) {
    run.sms = static_cast<std::uint32_t>(unsigned_option(session, "sms", 1, 4096));
    run.rules.chosen += " --sms " + session.options["sms"].as<std::string>();
  }
  run.moves_data =
      session.options.count("timing-only") == 0 && session.options.count("control-only") == 0;
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
                        "' to write (or --control-only computes none)");
    }
    const TensorSpec& spec = found->spec;
    if (!found->bytes.empty()) {
      write_npy_elements(path, spec.rows, spec.columns, spec.element, found->bytes);
    } else {
      write_npy(path, {spec.rows, spec.columns, found->values});
    }
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

Suppressions suppressions_of(const Session& session) {
  return session.options.count("suppress") == 0
             ? Suppressions{}
             : read_suppressions(session.options["suppress"].as<std::string>(),
                                 scenario_names(session));
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
    if (row->accepted.empty() && row->id != kProtocolWrong) {  // that is `explore`'s
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

}  // namespace warptwin::sim::cli
