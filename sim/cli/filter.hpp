/// Findings that fail nothing: those of a file of suppressions, and those of a baseline.

#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/cli/session.hpp"
#include "sim/report/baseline.hpp"
#include "sim/run/proof/explore_run.hpp"
#include "sim/run/suppressions.hpp"

namespace warptwin::sim::cli {

/// What --suppress, --baseline and --write-baseline say, and what they took out.
class Filter {
 public:
  /// Throws ConfigError.
  explicit Filter(const Session& session);

  /// Empty where nothing is ever taken out. Holds on to the filter and the scenario.
  std::function<bool(const Finding&)> accepts(const ScenarioEntry& scenario);
  /// The same of an interleaving of a protocol, which no diagnostic names.
  std::function<bool(const WrongProtocol&)> accepts_protocol(const ScenarioEntry& scenario);
  /// What was taken out of a scenario, as the reports have it: of each fingerprint and line one.
  std::vector<JudgedFinding> taken(const ScenarioEntry& scenario) const;
  /// The entries of the baseline that the scenario no longer has.
  std::vector<JudgedGone> gone(const ScenarioEntry& scenario, bool of_protocols = false) const;
  /// The rows of suppressions of a scenario.
  std::vector<const Suppression*> rows(const ScenarioEntry& scenario) const;
  /// A line on what was taken out by each row and by the baseline.
  std::string text_of_taken(const ScenarioEntry& scenario) const;
  std::string text_of_gone(const ScenarioEntry& scenario, bool of_protocols = false) const;
  /// Adds to a report what was taken out, and `gone` of the baseline.
  void add_to(Json& report,
              const ScenarioEntry& scenario,
              const std::vector<JudgedGone>& gone = {}) const;

 private:
  bool takes(const ScenarioEntry& scenario, const Finding& finding);
  bool uses_baseline(const ScenarioEntry& scenario) const;
  std::string reason_of(const ScenarioEntry& scenario, const Finding& finding) const;

  struct Taken {
    std::string scenario;
    Finding finding;
    Known known = Known::kNo;
    std::string reason;
  };
  Suppressions suppressions_;
  std::optional<Baseline> baseline_;
  bool writes_ = false;  // a new baseline: all that is not suppressed goes into it
  bool all_ = false;     // scenarios: broken ones are to be found
  std::vector<Taken> taken_;
  std::vector<std::pair<std::string, JudgedFinding>> protocols_;  // taken too: scenario, what
};

/// A wrong interleaving as the reports have it.
JudgedFinding judged_of(const ScenarioEntry& scenario, const WrongProtocol& wrong);

}  // namespace warptwin::sim::cli
