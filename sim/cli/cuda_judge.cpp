#include "sim/cli/cuda_judge.hpp"

#include <chrono>
#include <cstdlib>
#include <cxxabi.h>
#include <filesystem>
#include <fnmatch.h>
#include <iostream>
#include <set>

#include "sim/check/footprint.hpp"
#include "sim/ptx/machine/launch.hpp"
#include "sim/report/text.hpp"
#include "sim/run/check.hpp"
#include "sim/run/prove.hpp"
#include "sim/run/ptx_entry.hpp"

namespace warptwin::sim::cli {

static constexpr const char* kPolicyNames[] = {"record", "run", "prove", "check"};

// Of a CUresult.
static constexpr int kLaunchTimeout = 702;
static constexpr int kAssertion = 710;
static constexpr int kLaunchFailed = 719;
static constexpr int kNotSupported = 801;

const char* name_of(LaunchPolicy policy) {
  return kPolicyNames[static_cast<unsigned>(policy)];
}

static LaunchPolicy policy_of(const std::string& name) {
  for (unsigned i = 0; i < std::size(kPolicyNames); ++i) {
    if (name == kPolicyNames[i]) {
      return static_cast<LaunchPolicy>(i);
    }
  }
  throw ConfigError(
      "--policy takes record, run, prove or check, and behind a colon the kernels "
      "that it is for, as in prove:gemm*; not '" +
      name + "'");
}

LaunchPolicies::LaunchPolicies(const Session& session)
    : first_{unsigned_option(session, "first", 0, std::uint64_t{1} << 40)} {
  for (const std::string& text : strings(session, "policy")) {
    const std::size_t colon = text.find(':');
    rows_.push_back({policy_of(text.substr(0, colon)),
                     colon == std::string::npos ? "*" : text.substr(colon + 1)});
  }
}

// The last row that fits counts. Behind the first launches of a kernel the others are run once.
LaunchPolicy LaunchPolicies::of(const std::string& kernel, std::uint64_t number) const {
  LaunchPolicy policy = LaunchPolicy::kCheck;
  const std::string plain = demangled(kernel);
  for (const Row& row : rows_) {
    if (::fnmatch(row.pattern.c_str(), kernel.c_str(), 0) == 0 ||
        ::fnmatch(row.pattern.c_str(), plain.c_str(), 0) == 0) {
      policy = row.policy;
    }
  }
  const bool later = first_ != 0 && number >= first_;
  return later ? std::min(policy, LaunchPolicy::kRun) : policy;
}

std::string demangled(const std::string& name) {
  int status = 0;
  char* plain = abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status);
  std::string text = status == 0 && plain != nullptr ? plain : name;
  std::free(plain);  // NOLINT: as its documentation asks
  return text;
}

LaunchJudge::LaunchJudge(const Session& session)
    : session_{session},
      policies_{session},
      folder_{text_option(session, "keep")},
      strict_{session.options.count("strict") != 0} {}

void LaunchJudge::note(JudgedLaunch& judged,
                       const ScenarioEntry& entry,
                       const ReportedFinding& found) {
  judged.findings.push_back(json_of(found.finding, found.context));
  judged.reported.push_back(judged_of(entry, found.finding, found.context, strict_));
  judged.ids.emplace_back(found.finding.info->id);
}

// Which regions a run writes.
class WriteWatch : public EventSink {
 public:
  explicit WriteWatch(const cuda::Device& device) : device_{device} {}

  void on_event(const Event& event) override {
    switch (event.op) {
      case Op::kBulkStore:
      case Op::kTensorStore:
      case Op::kGlobalStoreRelease:
      case Op::kGlobalRedAdd:
      case Op::kGlobalStore: {
        const GlobalBox box = global_box_of(event);
        for (std::uint64_t row = 0; row < box.rows; ++row) {
          written.insert(device_.region_of(box.start + row * box.pitch));
        }
        break;
      }
      default:
        break;
    }
  }

  std::set<std::uint64_t> written;  // by their first addresses; 0: what is in none

 private:
  const cuda::Device& device_;
};

// What the run of a launch with its data leaves for the program.
static int error_of(const RunResult& result) {
  for (const Finding& finding : result.findings) {
    if (std::string_view{finding.info->id} == "ASSERTION_FAILED") {
      return kAssertion;
    }
  }
  switch (result.end) {
    case Ending::kDone:
      return 0;
    case Ending::kStepBound:
      return kLaunchTimeout;
    default:
      return kLaunchFailed;
  }
}

void LaunchJudge::prove_launch(JudgedLaunch& judged,
                               const ScenarioEntry& entry,
                               const RunOptions& run) {
  const ParameterSet none{entry.parameters};
  ProofOptions options;
  options.run = run;
  options.run.at_end = nullptr;
  options.run.moves_data = false;
  const ProofResult proof = prove(entry, none, options);
  judged.verdict = sim::name_of(proof.verdict);
  judged.code = worse(judged.code, exit_of(proof, strict_));
  judged.operations += proof.operations;
  judged.text = text_of(proof, entry, none);
  if (proof.run.end != Ending::kDone) {
    judged.text += judged.kernel + ": " + sentence_of(proof.run.end) + "\n";
  }
  judged.text += judged.kernel + ": " + proof.strength() + "\n";
  judged.findings = Json::array();
  judged.ids.clear();
  judged.reported.clear();
  for (const ReportedFinding& found : reported_of(proof, entry, none)) {
    note(judged, entry, found);
  }
  const bool open =
      proof.verdict == ProofVerdict::kUndecided || proof.verdict == ProofVerdict::kUnordered;
  if (judged.policy != LaunchPolicy::kCheck || !open) {
    return;
  }
  CheckOptions sampling;
  sampling.run = options.run;
  sampling.run.moves_data = proof.data_decides;
  sampling.data_decides = proof.data_decides;
  sampling.seed = unsigned_option(session_, "seed", 0, kAnySeed);
  sampling.random = static_cast<std::uint32_t>(unsigned_option(session_, "random", 0, 10'000'000));
  sampling.pct = static_cast<std::uint32_t>(unsigned_option(session_, "pct", 0, 10'000'000));
  const CheckResult sampled = check(entry, none, sampling);
  judged.operations += sampled.operations;
  if (sampled.failing != 0) {
    judged.verdict = "refuted";
    judged.code = worse(judged.code, ExitCode::kFinding);
    const ReportContext context = context_of(entry, none, sampled.failing_schedule, run.rules);
    for (const Finding& finding : sampled.first_failing.findings) {
      note(judged, entry, {finding, sampled.failing_schedule, context});
      judged.text += text_of(finding, context);
    }
    judged.text += judged.kernel + ": a defect in one of " + std::to_string(sampled.schedules) +
                   " schedules\n";
  } else {
    judged.text += judged.kernel + ": no defect in " + sampled.strength() + "\n";
  }
}

void LaunchJudge::judge(JudgedLaunch& judged,
                        cuda::Device& device,
                        const cuda::LaunchRequest& request) {
  PtxLaunch launch = device.launch_of(request);
  const std::string& ptx_text = device.module(request.module).ptx;
  // Replay lines name a kept launch: without --keep the folder that it would have.
  const std::string place =
      (std::filesystem::path{folder_.empty() ? "KEPT" : folder_} / std::to_string(judged.number))
          .string();
  if (!folder_.empty()) {
    keep_launch(launch, ptx_text, place);
  }
  const std::uint64_t content = content_of(launch_text_of(launch), ptx_text);
  ScenarioEntry entry = entry_of(std::move(launch));
  entry.command_name = "--ptx " + place + "/kernel.ptx --launch " + place + "/launch.json";
  entry.content = content;
  const ParameterSet none{entry.parameters};
  RunOptions run = run_options(session_, entry, none);
  run.moves_data = true;
  run.detect = judged.policy != LaunchPolicy::kRecord;
  WriteWatch watch{device};
  run.observer = &watch;
  run.at_end = [&](GlobalMemory& memory, std::span<const GlobalAddress>) {
    watch.written.merge(device.take(memory));
  };
  const RunResult result = simulate(entry, none, run);
  std::cout << entry.printed() << std::flush;
  run.observer = nullptr;
  // One that begins early may end before those that it has not waited for.
  std::set<std::uint64_t>& unfinished = device.unfinished[request.stream];
  if (!request.follows_early) {
    unfinished.clear();
  }
  unfinished.merge(watch.written);
  judged.operations = result.operations;
  judged.error = error_of(result);
  judged.code = exit_of(result, strict_);
  judged.verdict = judged.code == ExitCode::kClean        ? "ran"
                   : judged.code == ExitCode::kIncomplete ? "incomplete"
                                                          : "refuted";
  const ReportContext context = context_of(entry, none, run.schedule, run.rules);
  for (const Finding& finding : result.findings) {
    note(judged, entry, {finding, run.schedule, context});
    judged.text += text_of(finding, context);
  }
  judged.text += judged.kernel + ": " + sentence_of(result.end) + "\n";
  if (judged.policy == LaunchPolicy::kRecord) {
    judged.verdict = judged.code == ExitCode::kClean ? "recorded" : judged.verdict;
  } else if (judged.policy != LaunchPolicy::kRun) {
    prove_launch(judged, entry, run);
  }
}

cuda::LaunchResult LaunchJudge::launch(cuda::Device& device, const cuda::LaunchRequest& request) {
  const auto began = std::chrono::steady_clock::now();
  JudgedLaunch judged;
  judged.number = all_.size() + 1;
  judged.kernel = request.kernel;
  judged.shape = request.shape;
  judged.policy = policies_.of(request.kernel, counts_[request.kernel]++);
  const auto stopped = [&](ExitCode code, const char* verdict, const std::string& why) {
    judged.code = code;
    judged.verdict = verdict;
    judged.text += judged.kernel + ": " + verdict + ": " + why + "\n";
    judged.error = judged.error == 0 ? kNotSupported : judged.error;
  };
  try {
    judge(judged, device, request);
  } catch (const ConfigError& error) {
    stopped(ExitCode::kUsage, "refused", error.what());
  } catch (const std::exception& error) {
    stopped(ExitCode::kInternal, "internal", error.what());
  }
  judged.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  all_.push_back(judged);
  return {judged.error};
}

}  // namespace warptwin::sim::cli
