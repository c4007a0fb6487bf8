/// What a command judged, as plain values: what reports for other programs (SARIF, JUnit,
/// annotations) are rendered from.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sim/report/text.hpp"
#include "sim/verdict/verdict.hpp"

namespace warptwin::sim {

struct JudgedPlace {
  std::string file;  // as it was compiled, or as a program's file was named
  std::uint32_t line = 0;
};

/// One step of a schedule that leads to a finding.
struct JudgedStep {
  std::string agent;  // "cta 0 warp 5 (load)"; empty: not of one warp
  std::string what;
  JudgedPlace place;
  std::uint64_t number = 0;  // in the execution, from 1; 0: not known
};

/// Why a finding fails nothing.
enum class Known : std::uint8_t { kNo, kSuppressed, kBaseline, kExpected };

/// The run that shows a finding.
struct ShownRun {
  ParameterSet parameters;
  RunOptions run;
};

struct JudgedFinding {
  std::string id;
  std::string severity;  // "lint", "warning", "error" or "fatal"
  std::string message;
  std::string object;
  std::string agent;
  std::vector<std::string> details;
  JudgedPlace place;
  std::string schedule;
  std::string replay;
  std::string text;         // as on the terminal
  std::string fingerprint;  // see fingerprint_of
  bool fails = false;       // the command, where it is not known
  Known known = Known::kNo;
  std::string reason;  // why it is known
  std::vector<JudgedStep> steps;
  std::shared_ptr<const ShownRun> shown;  // where a page is made of it
};

/// What reports for other programs call a scenario that fails without a finding. Beside it
/// `kProtocolWrong` is the only rule that the catalogue does not have.
inline constexpr const char* kNotProved = "NOT_PROVED";

/// Something that could not be decided, and where.
struct JudgedOpen {
  std::string reason;
  JudgedPlace place;
};

/// A finding of a baseline that was not found.
struct JudgedGone {
  std::string fingerprint;
  std::string id;
  std::string object;
  std::string file;
};

/// One scenario at its parameters.
struct Judged {
  std::string scenario;
  std::string parameters;
  ExitCode exit = ExitCode::kClean;  // of this scenario alone
  bool right = true;                 // the command does not fail for it
  std::string answer;                // the verdict in words
  std::vector<JudgedFinding> findings;
  std::vector<JudgedOpen> open;
  std::vector<JudgedGone> gone;
  std::uint64_t not_kept = 0;  // reports of more findings than are kept
  bool proved = false;         // the verdict is that of a proof, and clean
};

/// Everything one command judged.
struct Judgement {
  std::string command;  // "check"
  std::vector<Judged> all;
  std::string error;                 // why it stopped before its end; empty where it did not
  ExitCode exit = ExitCode::kClean;  // of the command
  bool baseline = false;             // findings were compared with a baseline
};

/// A number for a finding that stays when lines are added above it, parameters change, or another
/// warp, stage or CTA shows it first: of the scenario, the id, the file, the agent's role, and the
/// object without its numbers. Several findings may have the same one.
std::string fingerprint_of(const std::string& scenario, const Finding& finding);

/// Of what no diagnostic of the catalogue names: of the scenario, the id, the file, the agent's
/// role and what is wrong, without numbers.
std::string fingerprint_of(const std::string& scenario,
                           const std::string& id,
                           const SourceSite& site,
                           const std::string& agent,
                           const std::string& what);

/// A verdict without its findings.
Judged judged_of(const std::string& scenario,
                 const std::string& parameters,
                 const Verdict& verdict);

/// With `fails` by severity: errors do, with `strict` warnings too.
JudgedFinding judged_of(const ScenarioEntry& scenario,
                        const Finding& finding,
                        const ReportContext& context,
                        bool strict);

JudgedPlace place_of(const SourceSite& site);

/// Findings that are not known and fail.
std::vector<const JudgedFinding*> failing(const Judged& judged);

/// Findings of the same fingerprint in one scenario are told apart by their number, from 1, in the
/// order of their lines: for each finding its number.
std::vector<std::size_t> numbers_of(const Judged& judged);

}  // namespace warptwin::sim
