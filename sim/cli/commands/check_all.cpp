// Check of all scenarios, each in a process of its own. One that crashes, or takes too much, takes
// nothing else with it.

#include <iomanip>
#include <ostream>
#include <thread>

#include "sim/cli/commands/check.hpp"
#include "sim/cli/limited.hpp"
#include "sim/cli/pictures.hpp"
#include "sim/json/json_text.hpp"
#include "sim/report/packed.hpp"
#include "sim/run/workers.hpp"

namespace warptwin::sim::cli {

// From the process that checks to the one that reports.
static std::string packed_of(const OneCheck& one) {
  return packed(nlohmann::json{{"code", static_cast<int>(one.report.code)},
                               {"expected_found", one.report.expected_found},
                               {"suppressed", one.report.suppressed},
                               {"unused", one.report.unused},
                               {"text", one.text},
                               {"json", one.json.is_null() ? "" : text_of_json(one.json)},
                               {"judged", one.judged}});
}

static OneCheck unpacked_of(const nlohmann::json& from) {
  OneCheck one;
  one.report.code = static_cast<ExitCode>(from["code"].get<int>());
  one.report.expected_found = from["expected_found"];
  one.report.suppressed = from["suppressed"];
  one.report.unused = from["unused"];
  one.text = from["text"];
  const std::string json = from["json"];
  one.json = json.empty() ? Json{} : parsed_json<Json>(json);
  one.judged = from["judged"];
  return one;
}

static OneCheck one_of(const Session& session,
                       const ScenarioEntry& scenario,
                       const ParameterSet& parameters,
                       const WorkEnd& end) {
  if (end.why == WorkEnd::Why::kDone) {
    const auto reply = unpacked<nlohmann::json>(end.text);
    if (reply.contains("config")) {
      throw ConfigError(reply["config"].get<std::string>());
    }
    return unpacked_of(reply);
  }
  OneCheck one;
  one.report.code = code_of(end);
  const std::string why = why_stopped(session.options, end);
  one.judged = stopped(scenario.info->name, parameters.to_string(), one.report.code, why);
  if (session.json()) {
    one.json = json_of_stopped(one.judged);
  } else {
    one.text = one.judged.scenario + ": " + why + "\n";
  }
  return one;
}

// The work of one process. What the user got wrong is told by the process that reports.
static std::string work(const Session& session,
                        const ScenarioEntry& scenario,
                        const ParameterSet& parameters,
                        Filter& filter) {
  try {
    return packed_of(check_one(session, scenario, parameters, filter));
  } catch (const ConfigError& error) {
    return packed(nlohmann::json{{"config", error.what()}});
  }
}

// What is said of a scenario without a fault.
static const char* said_of(ExitCode code) {
  return code == ExitCode::kClean        ? "clean"
         : code == ExitCode::kIncomplete ? "not proved"
         : code == ExitCode::kInternal   ? "an internal error"
                                         : "a finding";
}

// What a broken scenario is found with is known, if it is found as it is to be.
static void note_expected(const ScenarioEntry& scenario, bool right, Judged& judged) {
  judged.right = right;
  if (scenario.info->kind != ScenarioKind::kBroken) {
    return;
  }
  judged.answer = "expected: " + std::string{scenario.info->expected} + "\n" + judged.answer;
  for (JudgedFinding& finding : judged.findings) {
    if (right && finding.known == Known::kNo) {
      finding.known = Known::kExpected;
      finding.reason = "a seeded fault";
      finding.steps.clear();  // nobody looks for it
    }
  }
}

// Clean ones must be clean, broken ones found with their id.
static bool is_right(const ScenarioEntry& scenario, const CheckReport& report) {
  return !report.unused && report.code != ExitCode::kInternal &&
         (scenario.info->kind == ScenarioKind::kBroken ? report.expected_found
                                                       : report.code == ExitCode::kClean);
}

static void say_one(const Session& session,
                    const ScenarioEntry& scenario,
                    std::size_t number,
                    const OneCheck& one) {
  const bool right = is_right(scenario, one.report);
  const bool broken = scenario.info->kind == ScenarioKind::kBroken;
  session.out << "[" << number << "/" << session.scenarios.size() << "] " << std::left
              << std::setw(34) << scenario.info->name
              << (right ? "as expected: " : "NOT AS EXPECTED: ")
              << (broken ? std::string{one.report.expected_found ? "found " : "did not find "} +
                               scenario.info->expected
                         : said_of(one.report.code))
              << std::endl;
  session.out << (right ? one.report.suppressed : one.text);
}

ExitCode check_all(Session& session) {
  if (asks_pictures(session)) {
    throw ConfigError("--html and --picture are of one scenario, and do not go with --all");
  }
  if (session.options.count("target") != 0) {
    throw ConfigError("--all is every scenario: name none");
  }
  Json json = Json::array();
  Filter filter{session};
  std::size_t jobs = unsigned_option(session, "jobs", 0, 4096);
  if (jobs == 0) {
    jobs = std::max(1U, std::thread::hardware_concurrency());
  }
  std::size_t wrong = 0;
  const auto parameters_at = [&](std::size_t i) {
    return ParameterSet{session.scenarios[i].parameters};
  };
  run_workers(
      session.scenarios.size(),
      jobs,
      limits_of(session.options),
      [&](std::size_t i) { return work(session, session.scenarios[i], parameters_at(i), filter); },
      [&](std::size_t i, const WorkEnd& end) {
        const ScenarioEntry& scenario = session.scenarios[i];
        OneCheck one = one_of(session, scenario, parameters_at(i), end);
        const bool right = is_right(scenario, one.report);
        wrong += right ? 0 : 1;
        note_expected(scenario, right, one.judged);
        session.judgement.all.push_back(one.judged);
        if (session.json()) {
          json.push_back(one.json);
        } else {
          say_one(session, scenario, i + 1, one);
        }
      });
  if (session.json()) {
    session.out << text_of_json(json, 2) << "\n";
  } else {
    session.out << (session.scenarios.size() - wrong) << " of " << session.scenarios.size()
                << " as expected\n";
  }
  return wrong == 0 ? ExitCode::kClean : ExitCode::kFinding;
}

}  // namespace warptwin::sim::cli
