#include "sim/verdict/verdict.hpp"

#include <algorithm>

namespace warptwin::sim {

ExitCode Verdict::code() const {
  ExitCode code = ExitCode::kClean;
  for (const VerdictPart& part : parts_) {
    code = worse(code, part.code);
  }
  return code;
}

bool Verdict::proved() const {
  return clean() && std::any_of(parts_.begin(), parts_.end(), [](const VerdictPart& part) {
           return part.proved;
         });
}

std::string Verdict::words() const {
  std::string words;
  for (const VerdictPart& part : parts_) {
    words += (words.empty() || part.words.empty() ? "" : "\n") + part.words;
  }
  return words;
}

std::vector<std::string> Verdict::hypotheses() const {
  std::vector<std::string> all;
  for (const VerdictPart& part : parts_) {
    all.insert(all.end(), part.hypotheses.begin(), part.hypotheses.end());
  }
  return all;
}

VerdictPart part_of(const RunResult& result, bool strict) {
  return {exit_of(result, strict), result.ending()};
}

VerdictPart part_of(const ProofResult& result, bool strict) {
  const bool proved = result.verdict == ProofVerdict::kProved;
  return {exit_of(result, strict),
          result.strength(),
          proved ? result.notes : std::vector<std::string>{},
          proved};
}

VerdictPart scope_of(const ChoiceProof& proof) {
  return {proof.complete() ? ExitCode::kClean : ExitCode::kIncomplete, proof.scope()};
}

VerdictPart part_of(const TripProof& proof) {
  const std::string hypothesis = proof.hypothesis();
  return {exit_of(proof),
          proof.strength(),
          hypothesis.empty() ? std::vector<std::string>{} : std::vector{hypothesis}};
}

VerdictPart part_of(const CheckResult& sampled, bool strict) {
  return {
      exit_of(sampled, strict),
      sampled.failing != 0
          ? "a defect in one of " + std::to_string(sampled.schedules) + " schedules"
          : (sampled.accepted == 0 ? "no defect in " : "no other defect in ") + sampled.strength()};
}

VerdictPart part_of(const ExploreRunResult& result, const ExploreRunOptions& options) {
  return {exit_of(result), result.strength(options)};
}

}  // namespace warptwin::sim
