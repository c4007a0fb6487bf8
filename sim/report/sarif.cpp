#include "sim/report/sarif.hpp"

#include <map>

#include "common/report/catalogue.hpp"

#include "sim/ptx/text/demangled.hpp"
#include "sim/report/source_path.hpp"
#include "sim/run/suppressions.hpp"

namespace warptwin::sim {

namespace {

const char* level_of(const std::string& severity) {
  return severity == "warning" ? "warning" : severity == "lint" ? "note" : "error";
}

Json message_of(const std::string& text) {
  return {{"text", text}};
}

Json rules() {
  Json all = Json::array();
  for (const DiagnosticInfo& info : catalogue()) {
    const Severity severity = info.practical == Severity::kOff ? info.strict : info.practical;
    all.push_back({{"id", info.id},
                   {"shortDescription", message_of(info.meaning)},
                   {"fullDescription", message_of("Reported when " + std::string{info.trigger})},
                   {"help",
                    message_of("On hardware: " + std::string{info.hardware} +
                               ".\nSource: " + info.source + ".\nwarptwin explain " + info.id +
                               " shows the smallest program that has it.")},
                   {"defaultConfiguration",
                    {{"enabled", info.practical != Severity::kOff},
                     {"level", level_of(warptwin::name_of(severity))}}},
                   {"properties", {{"tags", {"gpu", "synchronization"}}}}});
  }
  all.push_back({{"id", kNotProved},
                 {"shortDescription", message_of("nothing wrong was shown, and right neither")},
                 {"fullDescription",
                  message_of("Reported when a scenario fails without a finding: it is undecided, "
                             "a bound was hit, or an expected finding was not found")},
                 {"defaultConfiguration", {{"level", "error"}}}});
  all.push_back(
      {{"id", kProtocolWrong},
       {"shortDescription", message_of("an interleaving of the barrier protocol is wrong")},
       {"fullDescription",
        message_of("Reported by warptwin explore, where its search of the protocol ends in "
                   "a state that is wrong, and no diagnostic names it")},
       {"defaultConfiguration", {{"level", "error"}}}});
  return all;
}

std::size_t index_of(const std::string& id) {
  std::size_t index = 0;
  for (const DiagnosticInfo& info : catalogue()) {
    if (id == info.id) {
      return index;
    }
    ++index;
  }
  return index + (id == kNotProved ? 0 : 1);
}

Json location_of(const JudgedPlace& place, const std::string& root) {
  Json location = Json::object();
  if (place.line != 0) {
    const std::string uri = uri_of(path_from(place.file, root));
    Json artifact = {{"uri", uri}};
    if (uri.find(':') == std::string::npos) {
      artifact["uriBaseId"] = "SRCROOT";
    }
    location["physicalLocation"] = {{"artifactLocation", artifact},
                                    {"region", {{"startLine", place.line}}}};
  }
  return location;
}

// A PTX kernel by the name that its program's text has, and by that of the file.
Json function_of(const Judged& judged) {
  const std::string name = ptx::demangled(judged.scenario);
  Json function = {{"name", name}, {"fullyQualifiedName", name}, {"kind", "function"}};
  if (name != judged.scenario) {
    function["decoratedName"] = judged.scenario;
  }
  return function;
}

// A thread for each warp; the order of the execution runs through all of them.
Json code_flow(const JudgedFinding& finding, const std::string& root) {
  Json threads = Json::array();
  std::map<std::string, std::size_t> of;
  std::size_t order = 0;
  for (const JudgedStep& step : finding.steps) {
    const auto [found, added] = of.emplace(step.agent, threads.size());
    if (added) {
      threads.push_back(
          {{"id", step.agent.empty() ? "all" : step.agent}, {"locations", Json::array()}});
    }
    Json location = location_of(step.place, root);
    location["message"] = message_of((step.agent.empty() ? "" : step.agent + ": ") + step.what);
    Json one = {{"location", location}, {"executionOrder", ++order}};
    if (step.number != 0) {
      one["properties"] = {{"step", step.number}};
    }
    threads[found->second]["locations"].push_back(one);
  }
  return {{"message", message_of("schedule " + finding.schedule)}, {"threadFlows", threads}};
}

Json suppression_of(const JudgedFinding& finding) {
  const bool expected = finding.known == Known::kExpected;
  return {{"kind", expected ? "inSource" : "external"},
          {"status", "accepted"},
          {"justification", finding.reason}};
}

Json result_of(const Judged& judged,
               const JudgedFinding& finding,
               std::size_t number,
               const Judgement& judgement,
               const std::string& root) {
  std::string text = finding.message;
  for (const std::string& line : finding.details) {
    text += "\n" + line;
  }
  if (!finding.replay.empty()) {
    text += "\nreplay: " + finding.replay;
  }
  Json location = location_of(finding.place, root);
  location["logicalLocations"] = Json::array({function_of(judged)});
  Json result = {{"ruleId", finding.id},
                 {"ruleIndex", index_of(finding.id)},
                 {"kind", "fail"},
                 {"level", level_of(finding.severity)},
                 {"message", message_of(text)},
                 {"locations", Json::array({location})},
                 {"partialFingerprints",
                  {{"warptwinFinding/v1", finding.fingerprint + ":" + std::to_string(number)}}},
                 {"properties",
                  {{"scenario", judged.scenario},
                   {"parameters", judged.parameters},
                   {"severity", finding.severity},
                   {"object", finding.object},
                   {"agent", finding.agent},
                   {"schedule", finding.schedule},
                   {"replay", finding.replay}}}};
  if (!finding.steps.empty()) {
    result["codeFlows"] = Json::array({code_flow(finding, root)});
  }
  if (judgement.baseline) {
    result["baselineState"] = finding.known == Known::kBaseline ? "unchanged" : "new";
  }
  result["suppressions"] = Json::array();
  if (finding.known != Known::kNo) {
    result["suppressions"].push_back(suppression_of(finding));
  }
  return result;
}

// What fails a scenario without a finding.
Json open_result(const Judged& judged,
                 const JudgedOpen& open,
                 const Judgement& judgement,
                 const std::string& root) {
  Json location = location_of(open.place, root);
  location["logicalLocations"] = Json::array({function_of(judged)});
  // What may yet be right is "open", of no level.
  const bool open_kind = judged.exit == ExitCode::kIncomplete;
  Json result = {{"ruleId", kNotProved},
                 {"ruleIndex", index_of(kNotProved)},
                 {"kind", open_kind ? "open" : "fail"},
                 {"level", open_kind ? "none" : "error"},
                 {"message", message_of(ptx::demangled(judged.scenario) + ": " + open.reason)},
                 {"locations", Json::array({location})},
                 {"properties", {{"scenario", judged.scenario}, {"exit", judged.exit}}}};
  if (judgement.baseline) {
    result["baselineState"] = "new";
  }
  return result;
}

Json gone_result(const Judged& judged, const JudgedGone& gone) {
  return {{"ruleId", gone.id},
          {"ruleIndex", index_of(gone.id)},
          {"kind", "pass"},
          {"level", "none"},
          {"message", message_of("no longer found at " + gone.object)},
          {"baselineState", "absent"},
          {"partialFingerprints", {{"warptwinFinding/v1", gone.fingerprint}}},
          {"properties", {{"scenario", judged.scenario}, {"object", gone.object}}}};
}

Json results(const Judgement& judgement, const std::string& root) {
  Json all = Json::array();
  for (const Judged& judged : judgement.all) {
    const std::vector<std::size_t> numbers = numbers_of(judged);
    for (std::size_t i = 0; i < judged.findings.size(); ++i) {
      all.push_back(result_of(judged, judged.findings[i], numbers[i], judgement, root));
    }
    if (!judged.right && failing(judged).empty()) {
      for (const JudgedOpen& open : judged.open) {
        all.push_back(open_result(judged, open, judgement, root));
      }
      if (judged.open.empty()) {
        all.push_back(open_result(judged, {judged.answer, {}}, judgement, root));
      }
    }
    for (const JudgedGone& gone : judged.gone) {
      all.push_back(gone_result(judged, gone));
    }
  }
  return all;
}

// Nothing internal went wrong, and the command came to its end.
Json invocation_of(const Judgement& judgement) {
  Json notes = Json::array();
  bool successful = judgement.error.empty();
  const auto note = [&](const std::string& text) {
    notes.push_back({{"level", "error"}, {"message", message_of(text)}});
    successful = false;
  };
  for (const Judged& judged : judgement.all) {
    if (judged.exit == ExitCode::kInternal) {
      note(ptx::demangled(judged.scenario) + ": internal error: " + judged.answer);
    }
    if (judged.not_kept != 0) {
      notes.push_back({{"level", "note"},
                       {"message",
                        message_of(ptx::demangled(judged.scenario) + ": " +
                                   text_of_not_kept(judged.not_kept))}});
    }
  }
  const bool usage = !judgement.error.empty() && judgement.exit == ExitCode::kUsage;
  if (!judgement.error.empty() && !usage) {
    note(judgement.error);
  }
  Json invocation = {{"executionSuccessful", successful},
                     {"exitCode", judgement.exit},
                     {"exitCodeDescription", name_of(judgement.exit)},
                     {"toolExecutionNotifications", notes}};
  if (usage) {
    invocation["toolConfigurationNotifications"] =
        Json::array({{{"level", "error"}, {"message", message_of(judgement.error)}}});
  }
  return invocation;
}

}  // namespace

Json sarif_of(const Judgement& judgement, const std::string& root, const std::string& version) {
  const Json driver = {
      {"name", "warptwin"}, {"version", version}, {"semanticVersion", version}, {"rules", rules()}};
  const Json run = {{"tool", {{"driver", driver}}},
                    {"automationDetails", {{"id", "warptwin/" + judgement.command + "/"}}},
                    {"invocations", Json::array({invocation_of(judgement)})},
                    {"columnKind", "utf16CodeUnits"},
                    {"results", results(judgement, root)}};
  return {{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
          {"version", "2.1.0"},
          {"runs", Json::array({run})}};
}

}  // namespace warptwin::sim
