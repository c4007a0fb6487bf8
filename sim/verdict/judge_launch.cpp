#include "sim/verdict/judge_launch.hpp"

#include <algorithm>
#include <string_view>

namespace warptwin::sim {

namespace {

bool shows_id(const std::vector<Finding>& findings, std::string_view id) {
  return std::any_of(findings.begin(), findings.end(), [&](const Finding& finding) {
    return finding.info->id == id;
  });
}

bool shows_id(const ProofResult& proof, std::string_view id) {
  return shows_id(proof.run.findings, id) || shows_id(proof.second.findings, id) ||
         shows_id(proof.accepted, id) ||
         std::any_of(proof.refutations.begin(), proof.refutations.end(), [&](const Refutation& r) {
           return r.finding.info->id == id || shows_id(r.witness.run.findings, id);
         });
}

// Whether the proof leaves something that a schedule may show.
bool leaves_open(const ProofResult& proof) {
  return proof.verdict == ProofVerdict::kUndecided || proof.verdict == ProofVerdict::kUnordered ||
         proof.verdict == ProofVerdict::kAccepted;
}

class LaunchJudge {
 public:
  LaunchJudge(const ScenarioEntry& scenario,
              const ParameterSet& parameters,
              const JudgeOptions& options)
      : scenario_{scenario}, parameters_{parameters}, options_{options} {}

  LaunchVerdict operator()() {
    ProofOptions proof_options;
    proof_options.run = options_.check.run;
    proof_options.run.moves_data = false;
    proof_options.control_only = options_.control_only;
    proof_options.accepts = options_.check.accepts;
    LaunchVerdict judged{{},
                         false,
                         prove_choices(scenario_, parameters_, options_.fixed, proof_options),
                         {},
                         {},
                         {},
                         parameters_};
    const ProofResult& proof = judged.choices.result;
    const bool proved = proof.verdict == ProofVerdict::kProved;
    judged.verdict.add(part_of(proof, options_.strict));
    judged.expected_found = shows_id(proof, scenario_.info->expected);
    if (proof.run.end == Ending::kDone && proof.verdict != ProofVerdict::kRefuted) {
      compute(judged);
    }
    VerdictPart scope = scope_of(judged.choices);
    if (!proved) {
      scope.words.clear();  // nothing holds for all of them
    }
    judged.verdict.add(scope);
    if (leaves_open(proof) || options_.always_samples) {
      judged.sampled_at = proved ? parameters_ : judged.choices.at;
      sample(judged);
    }
    return judged;
  }

 private:
  // Outputs: one run with data, without the detectors. What clusters compute for their own tiles
  // says nothing of those that they claim: where all would begin by themselves, the first claims
  // half of them.
  void compute(LaunchVerdict& judged) const {
    if (!options_.check.run.moves_data) {
      judged.verdict.add({ExitCode::kClean, "values not compared: --control-only moves none"});
      return;
    }
    const std::uint64_t work = work_of(scenario_.workload(parameters_));
    if (work > kDataWorkMax && !options_.always_computes) {
      judged.verdict.add({ExitCode::kClean,
                          "values not compared: " + std::to_string(work) +
                              " operations are many; --data does it"});
      return;
    }
    RunOptions run = options_.check.run;
    run.detect = false;
    const Workload workload = scenario_.workload(parameters_);
    const std::uint32_t ctas = workload.clusters * workload.cluster_size;
    if (judged.choices.result.claims.asked && resident_ctas(workload, run.resident_ctas) == ctas) {
      run.schedule.tiles = workload.clusters / 2 + 1;
    }
    judged.computed_in = run.schedule;
    RunResult& computed = judged.computed.emplace(simulate(scenario_, parameters_, run));
    judged.expected_found =
        judged.expected_found || shows_id(computed.findings, scenario_.info->expected);
    if (options_.check.accepts) {
      std::erase_if(computed.findings, options_.check.accepts);
    }
    judged.verdict.add({computed.findings.empty() ? ExitCode::kClean : ExitCode::kFinding, ""});
  }

  // What the proof leaves open stays open, whatever the samples say.
  void sample(LaunchVerdict& judged) const {
    CheckOptions options = options_.check;
    options.run.moves_data = options.data_decides = judged.choices.result.data_decides;
    const CheckResult& sampled =
        judged.sampled.emplace(check(scenario_, judged.sampled_at, options));
    judged.verdict.add(part_of(sampled, options_.strict));
    judged.expected_found = judged.expected_found || sampled.ids.contains(scenario_.info->expected);
  }

  const ScenarioEntry& scenario_;
  const ParameterSet& parameters_;
  const JudgeOptions& options_;
};

}  // namespace

const RunResult& LaunchVerdict::found_run() const {
  static const RunResult kNone;
  return !sampled ? kNone : sampled->failing != 0 ? sampled->first_failing : sampled->warnings;
}

const ScheduleSpec& LaunchVerdict::found_in() const {
  return sampled->failing != 0 ? sampled->failing_schedule : sampled->warning_schedule;
}

std::uint64_t LaunchVerdict::not_kept() const {
  return choices.result.not_kept() + found_run().not_kept;
}

LaunchVerdict judge_launch(const ScenarioEntry& scenario,
                           const ParameterSet& parameters,
                           const JudgeOptions& options) {
  return LaunchJudge{scenario, parameters, options}();
}

}  // namespace warptwin::sim
