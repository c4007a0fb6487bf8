#include "sim/report/judged.hpp"

#include <cstdio>
#include <map>
#include <set>
#include <utility>

namespace warptwin::sim {

namespace {

// Runs of digits become one '#'.
std::string without_numbers(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c < '0' || c > '9') {
      result += c;
    } else if (result.empty() || result.back() != '#') {
      result += '#';
    }
  }
  return result;
}

// "load" of "cta 0 warp 5 (load)".
std::string role_in(const std::string& agent) {
  const std::size_t at = agent.find('(');
  return at == std::string::npos ? without_numbers(agent) : agent.substr(at);
}

std::string file_of(const SourceSite& site) {
  const std::string text = sim::text_of(site);
  return text.substr(0, text.rfind(':'));
}

std::string hash_of(const std::vector<std::string>& parts) {
  // FNV-1a, of 64 bits.
  std::uint64_t hash = 14695981039346656037U;
  for (const std::string& part : parts) {
    for (const char c : part + '\n') {
      hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
    }
  }
  char text[20];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(hash));
  return text;
}

}  // namespace

std::string fingerprint_of(const std::string& scenario, const Finding& finding) {
  return fingerprint_of(
      scenario, finding.info->id, finding.site, text_of(finding.agent), text_of(finding.object));
}

std::string fingerprint_of(const std::string& scenario,
                           const std::string& id,
                           const SourceSite& site,
                           const std::string& agent,
                           const std::string& what) {
  return hash_of({scenario, id, file_of(site), role_in(agent), without_numbers(what)});
}

JudgedPlace place_of(const SourceSite& site) {
  return site.line == 0 ? JudgedPlace{} : JudgedPlace{site.file, site.line};
}

Judged judged_of(const std::string& scenario,
                 const std::string& parameters,
                 const Verdict& verdict) {
  Judged judged;
  judged.scenario = scenario;
  judged.parameters = parameters;
  judged.exit = verdict.code();
  judged.right = verdict.clean();
  judged.answer = verdict.words();
  judged.proved = verdict.proved();
  return judged;
}

JudgedFinding judged_of(const ScenarioEntry& scenario,
                        const Finding& finding,
                        const ReportContext& context,
                        bool strict) {
  return {.id = finding.info->id,
          .severity = warptwin::name_of(finding.severity),
          .message = finding.message,
          .object = text_of(finding.object),
          .agent = text_of(finding.agent),
          .details = lines_of(finding),
          .place = place_of(finding.site),
          .schedule = context.schedule,
          .replay = context.replay,
          .text = text_of(finding, context),
          .fingerprint = fingerprint_of(scenario.info->name, finding),
          .fails = finding.severity >= (strict ? Severity::kLint : Severity::kError),
          .known = Known::kNo,
          .reason = {},
          .steps = {},
          .shown = nullptr};
}

std::vector<const JudgedFinding*> failing(const Judged& judged) {
  std::vector<const JudgedFinding*> all;
  for (const JudgedFinding& finding : judged.findings) {
    if (finding.fails && finding.known == Known::kNo) {
      all.push_back(&finding);
    }
  }
  return all;
}

std::vector<std::size_t> numbers_of(const Judged& judged) {
  std::map<std::string, std::set<std::pair<std::string, std::uint32_t>>> places;
  const auto key = [](const JudgedFinding& one) {
    return std::pair{one.place.file, one.place.line};
  };
  for (const JudgedFinding& finding : judged.findings) {
    places[finding.fingerprint].insert(key(finding));
  }
  std::vector<std::size_t> numbers;
  for (const JudgedFinding& finding : judged.findings) {
    const auto& of = places[finding.fingerprint];
    numbers.push_back(1 +
                      static_cast<std::size_t>(std::distance(of.begin(), of.find(key(finding)))));
  }
  return numbers;
}

}  // namespace warptwin::sim
