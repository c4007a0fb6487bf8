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

/// A mangled name as the program's text has it.
std::string demangled(const std::string& name);

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
  double seconds = 0;
  int error = 0;  // a CUresult for the program
};

/// Judges the launches of a program, one after the other, and keeps what was said.
class LaunchJudge {
 public:
  explicit LaunchJudge(const Session& session);

  cuda::LaunchResult launch(cuda::Device& device, const cuda::LaunchRequest& request);
  const std::vector<JudgedLaunch>& all() const { return all_; }

 private:
  void judge(JudgedLaunch& judged, cuda::Device& device, const cuda::LaunchRequest& request);
  void prove_launch(JudgedLaunch& judged, const ScenarioEntry& entry, const RunOptions& run);
  void note(JudgedLaunch& judged, const ScenarioEntry& entry, const ReportedFinding& found);

  const Session& session_;
  LaunchPolicies policies_;
  std::string folder_;  // --keep; empty: nothing is kept
  bool strict_ = false;
  std::map<std::string, std::uint64_t> counts_;  // launches of each kernel
  std::vector<JudgedLaunch> all_;
};

const char* name_of(LaunchPolicy policy);

}  // namespace warptwin::sim::cli
