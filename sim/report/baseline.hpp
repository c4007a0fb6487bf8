/// Findings that were there when a file was written: they fail nothing, and new ones do.

#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "sim/report/judged.hpp"

namespace warptwin::sim {

struct BaselineEntry {
  std::string scenario;
  std::string id;
  std::string object;
  std::string file;
  std::string fingerprint;
  std::uint32_t places = 1;  // source lines with this fingerprint
};

class Baseline {
 public:
  Baseline() = default;
  /// Of a file's text; `name` is for messages. Throws ConfigError, with the place and what was
  /// expected there, on anything that `text_of` does not write.
  Baseline(const std::string& text, const std::string& name);
  /// Throws ConfigError, also where it cannot be read.
  static Baseline of_file(const std::string& path);

  /// Whether the finding was there: one of its fingerprint, at no more lines than then. Notes it.
  bool accepts(const std::string& scenario, const Finding& finding);
  bool accepts(const std::string& scenario, const std::string& fingerprint, const SourceSite& site);
  /// The entries of a scenario that no finding has met: those of diagnostics, or those of
  /// protocols, which `explore` alone finds.
  std::vector<JudgedGone> gone(const std::string& scenario, bool of_protocols = false) const;
  /// How many findings of a scenario were met.
  std::size_t met(const std::string& scenario) const;
  const std::vector<BaselineEntry>& entries() const { return entries_; }

  /// Of the findings that are `Known::kBaseline`.
  static Baseline of(const std::vector<Judged>& judged);
  /// What a file of it holds; sorted.
  std::string text() const;

 private:
  std::vector<BaselineEntry> entries_;
  std::map<std::string, std::set<std::string>> met_;  // by fingerprint: lines
};

}  // namespace warptwin::sim
