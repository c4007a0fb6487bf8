#include "sim/verdict/exit_code.hpp"

namespace warptwin::sim {

namespace {

// How much a code outweighs the others.
int weight(ExitCode code) {
  switch (code) {
    case ExitCode::kClean:
      return 0;
    case ExitCode::kIncomplete:
      return 1;
    case ExitCode::kFinding:
      return 2;
    case ExitCode::kDevice:
      return 3;
    case ExitCode::kUsage:
      return 4;
    case ExitCode::kInternal:
      break;
  }
  return 5;
}

ExitCode of_verdict(ProofVerdict verdict) {
  switch (verdict) {
    case ProofVerdict::kProved:
    case ProofVerdict::kAccepted:
      return ExitCode::kClean;
    case ProofVerdict::kRefuted:
      return ExitCode::kFinding;
    case ProofVerdict::kUnordered:
    case ProofVerdict::kUndecided:
    case ProofVerdict::kIncomplete:
      break;
  }
  return ExitCode::kIncomplete;
}

}  // namespace

const char* name_of(ExitCode code) {
  switch (code) {
    case ExitCode::kClean:
      return "clean";
    case ExitCode::kFinding:
      return "finding";
    case ExitCode::kUsage:
      return "usage";
    case ExitCode::kDevice:
      return "device";
    case ExitCode::kIncomplete:
      return "incomplete";
    case ExitCode::kInternal:
      break;
  }
  return "internal";
}

ExitCode worse(ExitCode a, ExitCode b) {
  return weight(a) < weight(b) ? b : a;
}

ExitCode exit_of(const RunResult& result, bool strict) {
  if (result.clean(strict)) {
    return ExitCode::kClean;
  }
  return result.stopped() && !result.shows_defect() && !(strict && !result.findings.empty())
             ? ExitCode::kIncomplete
             : ExitCode::kFinding;
}

ExitCode exit_of(const ProofResult& result, bool strict) {
  const bool warned = strict && (!result.run.findings.empty() || !result.refutations.empty());
  const ExitCode code =
      worse(of_verdict(result.verdict), warned ? ExitCode::kFinding : ExitCode::kClean);
  return result.internal_error ? ExitCode::kInternal : code;
}

ExitCode exit_of(const TripProof& proof) {
  if (proof.failed && proof.failed->internal_error) {
    return ExitCode::kInternal;
  }
  if (proof.failed && proof.failed->verdict == ProofVerdict::kRefuted) {
    return ExitCode::kFinding;
  }
  return proof.shown ? ExitCode::kClean : ExitCode::kIncomplete;
}

ExitCode exit_of(const CheckResult& sampled, bool strict) {
  if (sampled.failing != 0 || (strict && !sampled.warnings.findings.empty())) {
    return ExitCode::kFinding;
  }
  return sampled.bound_hit ? ExitCode::kIncomplete : ExitCode::kClean;
}

ExitCode exit_of(const ExploreRunResult& result) {
  switch (result.verdict) {
    case Explored::kRight:
      return ExitCode::kClean;
    case Explored::kWrong:
      return ExitCode::kFinding;
    case Explored::kIncomplete:
      break;
  }
  return ExitCode::kIncomplete;
}

ExitCode exit_of(const MutateResult& result) {
  return result.count(MutantClass::kMissed) == 0 ? ExitCode::kClean : ExitCode::kFinding;
}

ExitCode exit_of(const Validation& result) {
  return result.rows.empty() || !result.skipped.empty() ? ExitCode::kIncomplete : ExitCode::kClean;
}

}  // namespace warptwin::sim
