// Check, in processes of its own: of all scenarios, or of one within limits. A scenario that
// crashes, or takes too much, takes nothing else with it.

#include <iomanip>
#include <ostream>
#include <thread>

#include "sim/cli/commands/check.hpp"
#include "sim/cli/pictures.hpp"
#include "sim/report/packed.hpp"
#include "sim/run/workers.hpp"

namespace warptwin::sim::cli {

// From the process that checks to the one that reports.
static std::string packed_of(const OneCheck& one) {
  return packed(nlohmann::json{
      {"code", static_cast<int>(one.report.code)},
      {"expected_found", one.report.expected_found},
      {"suppressed", one.report.suppressed},
      {"unused", one.report.unused},
      {"text", one.text},
      {"json",
       one.json.is_null() ? "" : one.json.dump(-1, ' ', false, Json::error_handler_t::replace)},
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
  one.json = json.empty() ? Json{} : Json::parse(json);
  one.judged = from["judged"];
  return one;
}

// What is said of one that did not come to its end.
static OneCheck stopped(const Session& session,
                        const ScenarioEntry& scenario,
                        const ParameterSet& parameters,
                        ExitCode code,
                        const std::string& why) {
  OneCheck one;
  one.report.code = code;
  one.judged.scenario = scenario.info->name;
  one.judged.parameters = parameters.to_string();
  one.judged.exit = static_cast<int>(code);
  one.judged.right = false;
  one.judged.answer = why;
  if (session.json()) {
    one.json = {{"scenario", scenario.info->name},
                {"parameters", parameters.to_string()},
                {"verdict", "stopped"},
                {"strength", why},
                {"findings", Json::array()},
                {"exit", static_cast<int>(code)}};
  } else {
    one.text = std::string{scenario.info->name} + ": " + why + "\n";
  }
  return one;
}

WorkLimits limits_of(const Session& session) {
  WorkLimits limits;
  limits.cpu_seconds = unsigned_option(session, "time-limit", 0, 1'000'000);
  limits.memory_bytes = unsigned_option(session, "memory-limit", 0, 100'000'000) << 20U;
  return limits;
}

static std::string option_and_value(const Session& session, const char* option) {
  return "--" + std::string{option} + " " + text_option(session, option);
}

static OneCheck one_of(const Session& session,
                       const ScenarioEntry& scenario,
                       const ParameterSet& parameters,
                       const WorkEnd& end) {
  const auto say = [&](ExitCode code, const std::string& why) {
    return stopped(session, scenario, parameters, code, why);
  };
  switch (end.why) {
    case WorkEnd::Why::kTime:
      return say(ExitCode::kIncomplete,
                 "incomplete: stopped by " + option_and_value(session, "time-limit") +
                     " (seconds of CPU)");
    case WorkEnd::Why::kMemory:
      return say(
          ExitCode::kIncomplete,
          text_option(session, "memory-limit") == "0"
              ? "incomplete: there is no more memory"
              : "incomplete: stopped by " + option_and_value(session, "memory-limit") + " (MiB)");
    case WorkEnd::Why::kError:
      return say(ExitCode::kInternal, "internal error: " + end.text);
    case WorkEnd::Why::kSignal:
      return say(ExitCode::kInternal,
                 "internal error: its process ended by signal " + std::to_string(end.signal));
    case WorkEnd::Why::kDone:
      break;
  }
  const auto reply = unpacked<nlohmann::json>(end.text);
  if (reply.contains("config")) {
    throw ConfigError(reply["config"].get<std::string>());
  }
  return unpacked_of(reply);
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

bool is_limited(const Session& session) {
  const WorkLimits limits = limits_of(session);
  return limits.cpu_seconds != 0 || limits.memory_bytes != 0;
}

OneCheck check_limited(const Session& session,
                       const ScenarioEntry& scenario,
                       const ParameterSet& parameters,
                       Filter& filter) {
  OneCheck one;
  run_workers(
      1,
      1,
      limits_of(session),
      [&](std::size_t) { return work(session, scenario, parameters, filter); },
      [&](std::size_t, const WorkEnd& end) { one = one_of(session, scenario, parameters, end); });
  return one;
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
      limits_of(session),
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
    session.out << json.dump(2) << "\n";
  } else {
    session.out << (session.scenarios.size() - wrong) << " of " << session.scenarios.size()
                << " as expected\n";
  }
  return wrong == 0 ? ExitCode::kClean : ExitCode::kFinding;
}

}  // namespace warptwin::sim::cli
