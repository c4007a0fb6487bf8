/// All that is asked of a launch to judge it: the proof, its outputs, and schedules where the proof
/// leaves something open.

#pragma once

#include <optional>
#include <set>
#include <string>

#include "sim/verdict/verdict.hpp"

namespace warptwin::sim {

struct JudgeOptions {
  /// Of the run, of all that is asked; of the schedules, where they are tried; of what is left out.
  CheckOptions check;
  std::set<std::string> fixed;  // choices that keep their value
  bool control_only = false;    // the proof is never of a run with data
  bool strict = false;          // warnings are findings
  /// Outputs are computed and compared however many operations that takes: else up to kDataWorkMax.
  bool always_computes = false;
  bool always_samples = false;  // schedules are tried where the proof decides, too
};

struct LaunchVerdict {
  Verdict verdict;
  bool expected_found = false;  // the diagnostic that the scenario is to be found with

  ChoiceProof choices;
  std::optional<RunResult> computed;   // one run with its data: the comparisons, and wrong results
  ScheduleSpec computed_in;            // valid with `computed`
  std::optional<CheckResult> sampled;  // schedules beside the proof
  ParameterSet sampled_at;             // valid with `sampled`

  /// Of the schedules, the one to be reported: the first that failed, else one with warnings.
  const RunResult& found_run() const;
  const ScheduleSpec& found_in() const;  // valid with `sampled`
  /// Reports of more findings than are kept.
  std::uint64_t not_kept() const;
};

/// Throws ConfigError as `simulate` does.
LaunchVerdict judge_launch(const ScenarioEntry& scenario,
                           const ParameterSet& parameters,
                           const JudgeOptions& options);

}  // namespace warptwin::sim
