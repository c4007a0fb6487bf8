#include "sim/cli/cuda_judge.hpp"

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fnmatch.h>
#include <iostream>
#include <set>
#include <thread>

#include "sim/check/footprint.hpp"
#include "sim/cli/commands/commands.hpp"
#include "sim/cli/limited.hpp"
#include "sim/json/json_text.hpp"
#include "sim/ptx/machine/launch.hpp"
#include "sim/ptx/text/demangled.hpp"
#include "sim/report/packed.hpp"
#include "sim/report/text.hpp"
#include "sim/run/proof/check.hpp"
#include "sim/run/proof/prove.hpp"
#include "sim/run/ptx_entry.hpp"
#include "sim/run/time/timing.hpp"

namespace warptwin::sim::cli {

static constexpr const char* kPolicyNames[] = {"record", "run", "prove", "check"};

// Conditions of a launch that a schedule is looked for: one more than says that it is wrong.
static constexpr std::uint32_t kWitnesses = 2;

// Of a kernel's name, beside a launch's number.
static constexpr std::size_t kNameColumns = 60;

// Of a CUresult.
static constexpr int kIllegalAddress = 700;
static constexpr int kLaunchTimeout = 702;
static constexpr int kAssertion = 710;
static constexpr int kMisalignedAddress = 716;
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
  const std::string plain = ptx::demangled(kernel);
  for (const Row& row : rows_) {
    if (::fnmatch(row.pattern.c_str(), kernel.c_str(), 0) == 0 ||
        ::fnmatch(row.pattern.c_str(), plain.c_str(), 0) == 0) {
      policy = row.policy;
    }
  }
  const bool later = first_ != 0 && number >= first_;
  return later ? std::min(policy, LaunchPolicy::kRun) : policy;
}

static std::size_t jobs_of(const Session& session) {
  const std::size_t jobs = unsigned_option(session, "jobs", 0, 256);
  return jobs != 0 ? jobs : std::max(1U, std::thread::hardware_concurrency());
}

LaunchJudge::LaunchJudge(const Session& session, const Chip& chip)
    : session_{session},
      chip_{chip},
      policies_{session},
      folder_{text_option(session, "keep")},
      strict_{session.options.count("strict") != 0},
      measure_{measure_of(session)},
      jobs_{jobs_of(session)},
      limits_{limits_of(session.options)} {}

static void refuse(JudgedLaunch& judged,
                   ExitCode code,
                   const char* verdict,
                   const std::string& why) {
  judged.code = worse(judged.code, code);
  judged.verdict = verdict;
  judged.text += ptx::demangled(judged.kernel) + ": " + verdict + ": " + why + "\n";
}

void LaunchJudge::note(JudgedLaunch& judged,
                       const ScenarioEntry& entry,
                       const ReportedFinding& found) const {
  judged.findings.push_back(json_of(found.finding, found.context));
  judged.reported.push_back(judged_of(entry, found.finding, found.context, strict_));
  judged.ids.emplace_back(found.finding.info->id);
}

Measure measure_of(const Session& session) {
  const std::string text = session.options["measure"].as<std::string>();
  constexpr const char* kNames[] = {"never", "asked", "always"};
  for (unsigned i = 0; i < std::size(kNames); ++i) {
    if (text == kNames[i]) {
      return static_cast<Measure>(i);
    }
  }
  throw ConfigError("--measure takes never, asked or always, not '" + text + "'");
}

// Ranges of bytes, which mostly come one behind the other.
class RangeCollector {
 public:
  void add(const GlobalBox& box) {
    const bool whole = box.rows == 1 || box.pitch == box.width;
    const std::uint64_t rows = whole ? 1 : box.rows;
    const std::uint64_t bytes = whole ? box.rows * box.width : box.width;
    for (std::uint64_t row = 0; row < rows; ++row) {
      add(box.start + row * box.pitch, bytes);
    }
  }
  cuda::ByteRanges take() {
    ranges_.add(last_);
    last_ = {};
    return std::move(ranges_);
  }

 private:
  void add(std::uint64_t first, std::uint64_t bytes) {
    const cuda::ByteRange range{first, first + bytes};
    if (!boost::icl::is_empty(last_) && boost::icl::touches(last_, range)) {
      last_ = boost::icl::hull(last_, range);
    } else if (!boost::icl::contains(last_, range)) {
      ranges_.add(last_);
      last_ = range;
    }
  }

  cuda::ByteRanges ranges_;
  cuda::ByteRange last_{};
};

// What a run does to global memory.
class TouchWatch : public EventSink {
 public:
  void on_event(const Event& event) override {
    const bool begins = event.step == Step::kIssued || event.step == Step::kTouched;
    if (event.fault != Fault::kNone) {
      return;
    }
    switch (event.op) {
      case Op::kBulkLoad:
      case Op::kTensorLoad:
        if (begins && event.as<payload::Copy>().rows != 0) {
          read_.add(global_box_of(event));
        }
        break;
      case Op::kBulkStore:
      case Op::kTensorStore:
        if (begins && event.as<payload::Copy>().rows != 0) {
          (event.as<payload::Copy>().reduction != 0 ? changed_ : written_)
              .add(global_box_of(event));
        }
        break;
      case Op::kGlobalLoad:
        read_.add(global_box_of(event));
        break;
      case Op::kGlobalStore:
        written_.add(global_box_of(event));
        break;
      case Op::kGlobalStoreRelease:
      case Op::kGlobalRedAdd:
        if (is_count(event.global)) {
          break;
        }
        changed_.add(global_box_of(event));
        break;
      case Op::kGlobalLoadAcquire:
      case Op::kGlobalWait:
        if (is_count(event.global)) {
          break;
        }
        looked_at_.add(global_box_of(event));
        break;
      case Op::kGriddepcontrolWait:
        waits_ = true;
        break;
      default:
        break;
    }
  }

  /// Also the regions that it writes, by their first addresses.
  cuda::Touched take(const cuda::Device& device, std::set<std::uint64_t>& regions) {
    cuda::Touched touched{read_.take(), written_.take(), changed_.take()};
    for (const cuda::ByteRanges* ranges : {&touched.written, &touched.updated}) {
      for (const cuda::ByteRange& range : *ranges) {
        regions.insert(device.region_of(range.lower()));
      }
    }
    touched.updated += looked_at_.take();
    return touched;
  }

  /// Whether somebody has waited for the launch before it.
  bool waits() const { return waits_; }

 private:
  bool waits_ = false;
  RangeCollector read_;
  RangeCollector written_;
  RangeCollector changed_;    // by atomics, flags, and copies that reduce
  RangeCollector looked_at_;  // flags
};

// What the run of a launch with its data leaves for the program.
static int error_of(const RunResult& result) {
  constexpr std::pair<const char*, int> kErrors[] = {{"ASSERTION_FAILED", kAssertion},
                                                     {"WORD_MISALIGNED", kMisalignedAddress},
                                                     {"WORD_OOB", kIllegalAddress}};
  for (const Finding& finding : result.findings) {
    for (const auto& [id, error] : kErrors) {
      if (std::string_view{finding.info->id} == id) {
        return error;
      }
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
                               const RunOptions& run) const {
  const ParameterSet none{entry.parameters};
  ProofOptions options;
  options.run = run;
  options.run.at_end = nullptr;
  options.run.moves_data = false;
  options.witnesses_max = kWitnesses;
  const ProofResult proof = prove(entry, none, options);
  judged.verdict = sim::name_of(proof.verdict);
  judged.code = worse(judged.code, exit_of(proof, strict_));
  judged.operations += proof.operations;
  judged.text = text_of(proof, entry, none);
  if (proof.run.end != Ending::kDone) {
    judged.text += ptx::demangled(judged.kernel) + ": " + proof.run.ending() + "\n";
  }
  judged.text += ptx::demangled(judged.kernel) + ": " + proof.strength() + "\n";
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
  const VerdictPart part = part_of(sampled, false);
  judged.code = worse(judged.code, part.code);
  judged.operations += sampled.operations;
  if (sampled.failing != 0) {
    judged.verdict = "refuted";
    const ReportContext context = context_of(entry, none, sampled.failing_schedule, run.rules);
    for (const Finding& finding : sampled.first_failing.findings) {
      note(judged, entry, {finding, sampled.failing_schedule, context});
      judged.text += text_of(finding, context);
    }
  }
  judged.text += ptx::demangled(judged.kernel) + ": " + part.words + "\n";
}

static double seconds_since(std::chrono::steady_clock::time_point began) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
}

// From the process that proves to the one that reports.
static std::string packed_of(const JudgedLaunch& judged) {
  return packed(
      nlohmann::json{{"verdict", judged.verdict},
                     {"code", static_cast<int>(judged.code)},
                     {"text", judged.text},
                     {"findings", parsed_json<nlohmann::json>(text_of_json(judged.findings))},
                     {"ids", judged.ids},
                     {"reported", judged.reported},
                     {"operations", judged.operations},
                     {"seconds", judged.seconds}});
}

// In a process of its own, so that the program goes on, or so that it can be stopped.
void LaunchJudge::prove_beside(std::size_t index,
                               const ScenarioEntry& entry,
                               const RunOptions& run) {
  take_proofs(jobs_ - 1);
  proofs_.start(index, limits_, [&](std::size_t) {
    const auto began = std::chrono::steady_clock::now();
    JudgedLaunch judged = all_[index];
    try {
      prove_launch(judged, entry, run);
    } catch (const ConfigError& error) {
      refuse(judged, ExitCode::kUsage, "refused", error.what());
    }
    judged.seconds += seconds_since(began);
    return packed_of(judged);
  });
}

// Waits until no more than so many proofs are being made.
void LaunchJudge::take_proofs(std::size_t most) {
  while (proofs_.size() > most) {
    std::map<std::size_t, WorkEnd> ends;
    proofs_.wait(ends, -1);
    for (const auto& [index, end] : ends) {
      take_proof(all_[index], end);
    }
  }
}

void LaunchJudge::take_proof(JudgedLaunch& judged, const WorkEnd& end) const {
  const auto stopped = [&](const char* option, const char* unit) {
    // What its run has found stands.
    refuse(
        judged,
        ExitCode::kIncomplete,
        judged.code == ExitCode::kFinding ? "refuted" : "incomplete",
        std::string{"stopped by --"} + option + " " + text_option(session_, option) + " " + unit);
  };
  switch (end.why) {
    case WorkEnd::Why::kTime:
      stopped("time-limit", "(seconds of CPU)");
      return;
    case WorkEnd::Why::kMemory:
      stopped("memory-limit", "(MiB)");
      return;
    case WorkEnd::Why::kError:
      refuse(judged, ExitCode::kInternal, "internal", end.text);
      return;
    case WorkEnd::Why::kSignal:
      refuse(judged,
             ExitCode::kInternal,
             "internal",
             "its process ended by signal " + std::to_string(end.signal));
      return;
    case WorkEnd::Why::kDone:
      break;
  }
  const auto from = unpacked<nlohmann::json>(end.text);
  judged.verdict = from["verdict"];
  judged.code = static_cast<ExitCode>(from["code"].get<int>());
  judged.text = from["text"];
  judged.findings = parsed_json<Json>(text_of_json(from["findings"]));
  judged.ids = from["ids"].get<std::vector<std::string>>();
  judged.reported = from["reported"].get<std::vector<JudgedFinding>>();
  judged.operations = from["operations"];
  judged.seconds = from["seconds"];
}

const std::vector<JudgedLaunch>& LaunchJudge::finish() {
  take_proofs(0);
  return all_;
}

// What the timed engine cannot execute takes no time, and says so.
void LaunchJudge::measure(JudgedLaunch& judged,
                          const ScenarioEntry& entry,
                          const RunOptions& run) const {
  TimingOptions timing;
  timing.run = run;
  timing.run.detect = false;
  timing.run.at_end = nullptr;
  try {
    const TimingResult timed = time_scenario(entry, ParameterSet{entry.parameters}, chip_, timing);
    judged.microseconds = timed.microseconds + timed.launch_microseconds;
  } catch (const ConfigError& error) {
    judged.text +=
        ptx::demangled(judged.kernel) + ": its time is not known: " + error.what() + "\n";
  }
}

cuda::Touched LaunchJudge::judge(std::size_t index,
                                 cuda::Device& device,
                                 const cuda::LaunchRequest& request) {
  JudgedLaunch& judged = all_[index];
  PtxLaunch launch = device.launch_of(request);
  const auto executed = std::make_shared<std::uint64_t>(0);
  launch.thread_instructions = executed;
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
  TouchWatch watch;
  std::set<std::uint64_t> written;
  run.observer = &watch;
  run.at_end = [&](GlobalMemory& memory, std::span<const GlobalAddress>) {
    written.merge(device.take(memory));
  };
  const auto began = std::chrono::steady_clock::now();
  const RunResult result = simulate(entry, none, run);
  judged.run_seconds = seconds_since(began);
  judged.thread_instructions = *executed;
  std::cout << entry.printed() << std::flush;
  run.observer = nullptr;
  cuda::Touched touched = watch.take(device, written);
  judged.waits = watch.waits();
  // One that begins early may end before those that it has not waited for.
  cuda::Device::InUse& unfinished = device.unfinished[request.stream];
  if (!request.follows_early) {
    unfinished = {};
  }
  unfinished.written.merge(written);
  for (const cuda::ByteRanges* ranges : {&touched.read, &touched.updated}) {
    for (const cuda::ByteRange& range : *ranges) {
      unfinished.read.insert(device.region_of(range.lower()));
    }
  }
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
  judged.text += ptx::demangled(judged.kernel) + ": " + result.ending() + "\n";
  const bool asked = request.measured && measure_ != Measure::kNever;
  if (result.end == Ending::kDone && (asked || measure_ == Measure::kAlways)) {
    measure(judged, entry, run);
  }
  if (judged.policy == LaunchPolicy::kRecord) {
    judged.verdict = judged.code == ExitCode::kClean ? "recorded" : judged.verdict;
  } else if (judged.policy != LaunchPolicy::kRun) {
    if (jobs_ > 1 || limits_.cpu_seconds != 0 || limits_.memory_bytes != 0) {
      prove_beside(index, entry, run);
    } else {
      prove_launch(judged, entry, run);
    }
  }
  return touched;
}

cuda::LaunchResult LaunchJudge::launch(cuda::Device& device, const cuda::LaunchRequest& request) {
  const auto began = std::chrono::steady_clock::now();
  const std::size_t index = all_.size();
  JudgedLaunch& judged = all_.emplace_back();
  judged.number = all_.size();
  judged.kernel = request.kernel;
  judged.shape = request.shape;
  judged.policy = policies_.of(request.kernel, counts_[request.kernel]++);
  cuda::Touched touched;
  try {
    touched = judge(index, device, request);
  } catch (const ConfigError& error) {
    refuse(judged, ExitCode::kUsage, "refused", error.what());
    judged.error = judged.error == 0 ? kNotSupported : judged.error;
  } catch (const std::exception& error) {
    refuse(judged, ExitCode::kInternal, "internal", error.what());
    judged.error = judged.error == 0 ? kNotSupported : judged.error;
  }
  judged.seconds += seconds_since(began);
  const std::string name = "launch " + std::to_string(judged.number) + " (" +
                           ptx::demangled(judged.kernel).substr(0, kNameColumns) + ")";
  return {judged.error, name, std::move(touched), judged.microseconds, judged.waits};
}

}  // namespace warptwin::sim::cli
