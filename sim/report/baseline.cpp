#include "sim/report/baseline.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <tuple>

#include "common/kernel/scenario.hpp"
#include "common/report/catalogue.hpp"

#include "sim/json/json_text.hpp"
#include "sim/report/json.hpp"
#include "sim/run/suppressions.hpp"

namespace warptwin::sim {

namespace {

constexpr const char* kVersionKey = "warptwin_baseline";
constexpr int kVersion = 1;

[[noreturn]] void refuse(const std::string& where, const std::string& expected) {
  throw ConfigError(where + ": " + expected +
                    "; write the file anew with --write-baseline, or correct it");
}

std::string text_at(const Json& row, const char* key, const std::string& where) {
  if (!row.contains(key) || !row[key].is_string()) {
    refuse(where + "." + key, "expected a string");
  }
  return row[key].get<std::string>();
}

BaselineEntry entry_of(const Json& row, const std::string& where) {
  if (!row.is_object()) {
    refuse(where, "expected an object");
  }
  constexpr const char* kKeys[] = {"scenario", "id", "object", "file", "fingerprint", "places"};
  for (const auto& [key, value] : row.items()) {
    if (std::find(std::begin(kKeys), std::end(kKeys), key) == std::end(kKeys)) {
      refuse(where + "." + key, "expected no such key");
    }
  }
  BaselineEntry entry{text_at(row, "scenario", where),
                      text_at(row, "id", where),
                      text_at(row, "object", where),
                      text_at(row, "file", where),
                      text_at(row, "fingerprint", where)};
  const bool hex = entry.fingerprint.size() == 16 &&
                   entry.fingerprint.find_first_not_of("0123456789abcdef") == std::string::npos;
  if (!hex) {
    refuse(where + ".fingerprint", "expected 16 digits of 0-9 and a-f");
  }
  if (find_diagnostic(entry.id) == nullptr && entry.id != kProtocolWrong) {
    refuse(where + ".id",
           std::string{"expected a diagnostic (`warptwin list --diagnostics` has them) or "} +
               kProtocolWrong);
  }
  if (!row.contains("places") || !row["places"].is_number_unsigned() || row["places"] == 0 ||
      row["places"] > 1'000'000) {
    refuse(where + ".places", "expected a whole number from 1 to 1000000");
  }
  entry.places = row["places"].get<std::uint32_t>();
  return entry;
}

bool before(const BaselineEntry& a, const BaselineEntry& b) {
  return std::tie(a.scenario, a.id, a.file, a.object, a.fingerprint) <
         std::tie(b.scenario, b.id, b.file, b.object, b.fingerprint);
}

}  // namespace

Baseline::Baseline(const std::string& text, const std::string& name) {
  if (nests_too_deep(text)) {
    refuse(name, kNestsTooDeep);
  }
  Json all;
  try {
    all = parsed_json<Json>(text);
  } catch (const Json::exception& error) {
    refuse(name, "expected JSON: " + words_of_json_error(error.what()));
  }
  if (!all.is_object() || !all.contains(kVersionKey)) {
    refuse(name, std::string{"expected an object with the key '"} + kVersionKey + "'");
  }
  if (all[kVersionKey] != kVersion) {
    refuse(name + ": " + kVersionKey,
           "expected " + std::to_string(kVersion) + ", the version that " + "this warptwin reads");
  }
  if (!all.contains("findings") || !all["findings"].is_array()) {
    refuse(name + ": findings", "expected a list");
  }
  std::set<std::string> seen;
  for (std::size_t i = 0; i < all["findings"].size(); ++i) {
    const std::string where = name + ": findings[" + std::to_string(i) + "]";
    entries_.push_back(entry_of(all["findings"][i], where));
    if (!seen.insert(entries_.back().fingerprint).second) {
      refuse(where + ".fingerprint", "expected one that no earlier row has");
    }
  }
}

Baseline Baseline::of_file(const std::string& path) {
  std::ifstream file{path, std::ios::binary};
  const std::string text{std::istreambuf_iterator<char>{file}, {}};
  if (!file.good() && text.empty()) {
    throw ConfigError(path + ": cannot be read; write one with --write-baseline");
  }
  return {text, path};
}

bool Baseline::accepts(const std::string& scenario, const Finding& finding) {
  return accepts(scenario, fingerprint_of(scenario, finding), finding.site);
}

bool Baseline::accepts(const std::string& scenario,
                       const std::string& fingerprint,
                       const SourceSite& site) {
  const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const BaselineEntry& one) {
    return one.fingerprint == fingerprint && one.scenario == scenario;
  });
  if (found == entries_.end()) {
    return false;
  }
  std::set<std::string>& lines = met_[fingerprint];
  const std::string line = text_of(site);
  if (!lines.contains(line) && lines.size() == found->places) {
    return false;
  }
  lines.insert(line);
  return true;
}

std::vector<JudgedGone> Baseline::gone(const std::string& scenario, bool of_protocols) const {
  std::vector<JudgedGone> all;
  for (const BaselineEntry& entry : entries_) {
    if (entry.scenario == scenario && !met_.contains(entry.fingerprint) &&
        (entry.id == kProtocolWrong) == of_protocols) {
      all.push_back({entry.fingerprint, entry.id, entry.object, entry.file});
    }
  }
  return all;
}

std::size_t Baseline::met(const std::string& scenario) const {
  std::size_t count = 0;
  for (const BaselineEntry& entry : entries_) {
    const auto found = met_.find(entry.fingerprint);
    count += entry.scenario == scenario && found != met_.end() ? found->second.size() : 0;
  }
  return count;
}

Baseline Baseline::of(const std::vector<Judged>& judged) {
  std::map<std::string, BaselineEntry> rows;
  for (const Judged& one : judged) {
    std::map<std::string, std::set<std::uint32_t>> lines;
    for (const JudgedFinding& finding : one.findings) {
      if (finding.known != Known::kBaseline) {
        continue;
      }
      lines[finding.fingerprint].insert(finding.place.line);
      const std::string file = text_of(SourceSite{finding.place.file.c_str(), finding.place.line});
      rows.emplace(finding.fingerprint,
                   BaselineEntry{one.scenario,
                                 finding.id,
                                 finding.object,
                                 file.substr(0, file.rfind(':')),
                                 finding.fingerprint});
    }
    for (const auto& [fingerprint, at] : lines) {
      rows[fingerprint].places =
          std::max(rows[fingerprint].places, static_cast<std::uint32_t>(at.size()));
    }
  }
  Baseline baseline;
  for (const auto& [fingerprint, row] : rows) {
    baseline.entries_.push_back(row);
  }
  std::sort(baseline.entries_.begin(), baseline.entries_.end(), before);
  return baseline;
}

std::string Baseline::text() const {
  Json findings = Json::array();
  for (const BaselineEntry& entry : entries_) {
    findings.push_back({{"scenario", entry.scenario},
                        {"id", entry.id},
                        {"object", entry.object},
                        {"file", entry.file},
                        {"fingerprint", entry.fingerprint},
                        {"places", entry.places}});
  }
  const Json all = {{kVersionKey, kVersion}, {"findings", findings}};
  return text_of_json(all, 2) + "\n";
}

}  // namespace warptwin::sim
