/// What is said of each launch of a CUDA program, and of all of them.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sim/cli/session.hpp"
#include "sim/cuda/service.hpp"
#include "sim/report/judged.hpp"
#include "sim/report/proof.hpp"
#include "sim/run/workers.hpp"

namespace warptwin::sim::cli {

/// How much is asked of a launch: more from one to the next.
enum class LaunchPolicy : std::uint8_t { kRecord, kRun, kProve, kCheck };

/// --policy and --first: what is asked of which kernel.
class LaunchPolicies {
 public:
  /// Throws ConfigError.
  explicit LaunchPolicies(const Session& session);
  /// Of the launch with this number of its kernel, from 0 on.
  LaunchPolicy of(const std::string& kernel, std::uint64_t number) const;

 private:
  struct Row {
    LaunchPolicy policy;
    std::string pattern;
  };
  std::vector<Row> rows_;
  std::uint64_t first_ = 0;  // 0: all
};

/// --measure: of which launches the time on the chip is simulated, too.
enum class Measure : std::uint8_t { kNever, kAsked, kAlways };
/// Throws ConfigError.
Measure measure_of(const Session& session);

struct JudgedLaunch {
  std::uint64_t number = 0;
  std::string kernel;
  ptx::LaunchShape shape;
  LaunchPolicy policy = LaunchPolicy::kCheck;
  std::string verdict;  // "proved", "ran", "refused"
  ExitCode code = ExitCode::kClean;
  std::string text;  // findings, and what the verdict says
  Json findings = Json::array();
  std::vector<std::string> ids;
  std::vector<JudgedFinding> reported;  // for --junit and its like
  std::uint64_t operations = 0;
  std::uint64_t thread_instructions = 0;  // of its run with data
  double run_seconds = 0;                 // that this took
  double seconds = 0;
  double microseconds = 0;  // on the chip, simulated; 0: not measured
  int error = 0;            // a CUresult for the program
  bool waits = false;       // for the launch before it
};

/// Judges the launches of a program, one after the other, and keeps what was said.
class LaunchJudge {
 public:
  LaunchJudge(const Session& session, const Chip& chip);

  /// Runs a launch, for the program to go on. Its proof may still be made when this returns.
  cuda::LaunchResult launch(cuda::Device& device, const cuda::LaunchRequest& request);
  /// Waits for what is still made, and gives all.
  const std::vector<JudgedLaunch>& finish();

 private:
  cuda::Touched judge(std::size_t index, cuda::Device& device, const cuda::LaunchRequest& request);
  void measure(JudgedLaunch& judged, const ScenarioEntry& entry, const RunOptions& run) const;
  void prove_launch(JudgedLaunch& judged, const ScenarioEntry& entry, const RunOptions& run) const;
  void prove_beside(std::size_t index, const ScenarioEntry& entry, const RunOptions& run);
  void take_proofs(std::size_t most);
  void take_proof(JudgedLaunch& judged, const WorkEnd& end) const;
  void note(JudgedLaunch& judged, const ScenarioEntry& entry, const ReportedFinding& found) const;

  const Session& session_;
  const Chip& chip_;
  LaunchPolicies policies_;
  std::string folder_;  // --keep; empty: nothing is kept
  bool strict_ = false;
  Measure measure_ = Measure::kAsked;
  std::map<std::string, std::uint64_t> counts_;  // launches of each kernel
  std::vector<JudgedLaunch> all_;
  std::size_t jobs_ = 1;
  WorkLimits limits_;
  WorkerPool proofs_;  // by the index of the launch
};

const char* name_of(LaunchPolicy policy);

}  // namespace warptwin::sim::cli
