// List, show and explain.

#include <algorithm>
#include <iomanip>
#include <ostream>
#include <set>

#include "sim/cli/commands/commands.hpp"
#include "sim/cli/engines.hpp"
#include "sim/cli/traces.hpp"
#include "sim/json/json_text.hpp"
#include "sim/micro/listing.hpp"
#include "sim/report/explanation.hpp"
#include "sim/report/json.hpp"
#include "sim/report/proof.hpp"
#include "sim/report/text.hpp"
#include "sim/report/timing.hpp"
#include "sim/run/budget.hpp"
#include "sim/run/nearest.hpp"
#include "sim/run/proof/check.hpp"

namespace warptwin::sim::cli {

static ExitCode list_diagnostics(const Session& session) {
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
    session.out << text_of_json(all, 2) << "\n";
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

static ExitCode list_rules(const Session& session) {
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
    session.out << text_of_json(all, 2) << "\n";
  }
  return ExitCode::kClean;
}

// Every id that 'explain' knows.
static std::vector<std::string_view> diagnostic_ids() {
  std::vector<std::string_view> ids;
  for (const DiagnosticInfo& info : catalogue()) {
    ids.emplace_back(info.id);
  }
  for (const AbsentDiagnostic& absent : absent_diagnostics()) {
    ids.emplace_back(absent.id);
  }
  return ids;
}

static ExitCode explain_absent(const Session& session, const AbsentDiagnostic& absent) {
  if (session.json()) {
    session.out << text_of_json(Json{{"id", absent.id}, {"cannot_occur", absent.reason}}, 2)
                << "\n";
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
  session.out << (session.json() ? text_of_json(json_of(explanation), 2) + "\n"
                                 : text_of(explanation));
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
      session.out << text_of_json(json_of(scenario), 2) << "\n";
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
    session.out << text_of_json(all, 2) << "\n";
    return ExitCode::kClean;
  }
  std::size_t widest = 0;
  for (const ScenarioEntry& scenario : session.scenarios) {
    widest = std::max(widest, std::string_view{scenario.info->name}.size());
  }
  for (const ScenarioEntry& scenario : session.scenarios) {
    const bool broken = scenario.info->kind == ScenarioKind::kBroken;
    session.out << std::left << std::setw(static_cast<int>(widest) + 2) << scenario.info->name
                << std::setw(9) << (broken ? "broken" : "clean") << scenario.info->summary
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

}  // namespace warptwin::sim::cli
