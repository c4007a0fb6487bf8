#include "sim/cli/filter.hpp"

#include <algorithm>

namespace warptwin::sim::cli {

Filter::Filter(const Session& session)
    : suppressions_{suppressions_of(session)},
      writes_{session.options.count("write-baseline") != 0},
      all_{session.options.count("all") != 0} {
  const std::string path = text_option(session, "baseline");
  if (!path.empty() && writes_) {
    throw ConfigError("--baseline reads a file and --write-baseline writes one: give one of them");
  }
  if (!path.empty()) {
    baseline_ = Baseline::of_file(path);
  }
}

// With --all a broken scenario is to be found: nothing of it is known.
bool Filter::uses_baseline(const ScenarioEntry& scenario) const {
  return (baseline_ || writes_) && !(all_ && scenario.info->kind == ScenarioKind::kBroken);
}

std::function<bool(const Finding&)> Filter::accepts(const ScenarioEntry& scenario) {
  if (suppressions_.empty() && !uses_baseline(scenario)) {
    return {};
  }
  return [this, &scenario](const Finding& finding) { return takes(scenario, finding); };
}

std::function<bool(const WrongProtocol&)> Filter::accepts_protocol(const ScenarioEntry& scenario) {
  if (suppressions_.empty() && !uses_baseline(scenario)) {
    return {};
  }
  return [this, &scenario](const WrongProtocol& wrong) {
    const char* name = scenario.info->name;
    JudgedFinding found = judged_of(scenario, wrong);
    if (const Suppression* row =
            suppressions_.accepts_protocol(name, wrong.what, text_of(wrong.site))) {
      found.known = Known::kSuppressed;
      found.reason = row->reason;
    } else if (uses_baseline(scenario) &&
               (writes_ || baseline_->accepts(name, found.fingerprint, wrong.site))) {
      found.known = Known::kBaseline;
      found.reason = "in the baseline";
    } else {
      return false;
    }
    protocols_.emplace_back(name, found);
    return true;
  };
}

std::string Filter::reason_of(const ScenarioEntry& scenario, const Finding& finding) const {
  for (const Suppression* row : suppressions_.of(scenario.info->name)) {
    if (row->id == finding.info->id &&
        row->accepted.contains(text_of(finding.object) + " at " + text_of(finding.site))) {
      return row->reason;
    }
  }
  return "";
}

bool Filter::takes(const ScenarioEntry& scenario, const Finding& finding) {
  const char* name = scenario.info->name;
  const bool suppressed = suppressions_.accepts(name, finding, text_of(finding.site));
  if (!suppressed && !(uses_baseline(scenario) && (writes_ || baseline_->accepts(name, finding)))) {
    return false;
  }
  const auto same = [&](const Taken& one) {
    return one.scenario == name && one.finding.info == finding.info &&
           fingerprint_of(name, one.finding) == fingerprint_of(name, finding) &&
           text_of(one.finding.site) == text_of(finding.site);
  };
  if (std::none_of(taken_.begin(), taken_.end(), same)) {
    taken_.push_back({name,
                      finding,
                      suppressed ? Known::kSuppressed : Known::kBaseline,
                      suppressed ? reason_of(scenario, finding) : "in the baseline"});
  }
  return true;
}

std::vector<JudgedFinding> Filter::taken(const ScenarioEntry& scenario) const {
  std::vector<JudgedFinding> all;
  for (const Taken& one : taken_) {
    if (one.scenario == scenario.info->name) {
      JudgedFinding finding = judged_of(scenario, one.finding, {one.scenario, "", ""}, false);
      finding.known = one.known;
      finding.reason = one.reason;
      all.push_back(finding);
    }
  }
  for (const auto& [name, found] : protocols_) {
    if (name == scenario.info->name) {
      all.push_back(found);
    }
  }
  return all;
}

std::vector<JudgedGone> Filter::gone(const ScenarioEntry& scenario, bool of_protocols) const {
  return baseline_ && uses_baseline(scenario) ? baseline_->gone(scenario.info->name, of_protocols)
                                              : std::vector<JudgedGone>{};
}

std::vector<const Suppression*> Filter::rows(const ScenarioEntry& scenario) const {
  return suppressions_.of(scenario.info->name);
}

std::string Filter::text_of_taken(const ScenarioEntry& scenario) const {
  std::string text = text_of_suppressed(rows(scenario));
  for (const Taken& one : taken_) {
    if (one.scenario == scenario.info->name && one.known == Known::kBaseline) {
      text += "in the baseline: " + std::string{one.finding.info->id} + " at " +
              text_of(one.finding.object) + ", " + text_of(one.finding.site) + "\n";
    }
  }
  for (const auto& [name, found] : protocols_) {
    if (name == scenario.info->name && found.known == Known::kBaseline) {
      const std::string place = text_of(SourceSite{found.place.file.c_str(), found.place.line});
      text += "in the baseline: " + found.id + ": " + found.message + ", " + place + "\n";
    }
  }
  return text;
}

std::string Filter::text_of_gone(const ScenarioEntry& scenario, bool of_protocols) const {
  std::string text;
  for (const JudgedGone& one : gone(scenario, of_protocols)) {
    text += "no longer found: " + one.id + (of_protocols ? ": " : " at ") + one.object + ", " +
            one.file + "; --write-baseline takes it out of the file\n";
  }
  return text;
}

void Filter::add_to(Json& report,
                    const ScenarioEntry& scenario,
                    const std::vector<JudgedGone>& gone) const {
  report["suppressed"] = json_of_suppressed(rows(scenario));
  if (!baseline_ && !writes_) {
    return;
  }
  Json known = Json::array();
  for (const JudgedFinding& one : taken(scenario)) {
    if (one.known == Known::kBaseline) {
      known.push_back({{"id", one.id}, {"object", one.object}, {"fingerprint", one.fingerprint}});
    }
  }
  Json absent = Json::array();
  for (const JudgedGone& one : gone) {
    absent.push_back({{"id", one.id}, {"object", one.object}, {"fingerprint", one.fingerprint}});
  }
  report["baseline"] = {{"known", known}, {"gone", absent}};
}

JudgedFinding judged_of(const ScenarioEntry& scenario, const WrongProtocol& wrong) {
  JudgedFinding found;
  found.id = kProtocolWrong;
  found.severity = "error";
  found.message = wrong.what;
  found.object = wrong.what;
  found.agent = wrong.agent;
  found.place = place_of(wrong.site);
  found.schedule = "of the protocol";
  found.fingerprint =
      fingerprint_of(scenario.info->name, found.id, wrong.site, wrong.agent, wrong.what);
  found.fails = true;
  found.text = wrong.what + "\n";
  for (const std::string& step : wrong.path) {
    found.steps.push_back({"", step, {}, 0});
    found.text += "  " + step + "\n";
  }
  return found;
}

}  // namespace warptwin::sim::cli
