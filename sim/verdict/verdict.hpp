/// A verdict: what is said in the end of what was asked. It has a part for each answer, and one
/// exit code of all of them.

#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sim/run/proof/choices.hpp"
#include "sim/verdict/exit_code.hpp"

namespace warptwin::sim {

/// One answer: that of a proof, of one run, of sampled schedules, of a claim for every trip count.
struct VerdictPart {
  ExitCode code = ExitCode::kClean;
  std::string words;  // lines, the last without its end; empty where the report does not say it
  /// What it takes for granted and no run can show, a sentence each. The words name them too.
  std::vector<std::string> hypotheses{};
  bool proved = false;  // every interleaving of the launch
};

class Verdict {
 public:
  void add(VerdictPart part) { parts_.push_back(std::move(part)); }

  /// In the order of the report.
  const std::vector<VerdictPart>& parts() const { return parts_; }
  /// The one that outweighs the others; of no parts clean.
  ExitCode code() const;
  bool clean() const { return code() == ExitCode::kClean; }
  /// Clean, and a part of it was proved: a page then says "proved", else "clean".
  bool proved() const;
  /// Those of the parts that say something, a line behind the other.
  std::string words() const;
  /// Of all parts.
  std::vector<std::string> hypotheses() const;

 private:
  std::vector<VerdictPart> parts_;
};

/// With `strict`, warnings are findings.
VerdictPart part_of(const RunResult& result, bool strict);
VerdictPart part_of(const ProofResult& result, bool strict);
/// What its choices cover, whatever was proved of them: incomplete where not every combination of
/// them was proved.
VerdictPart scope_of(const ChoiceProof& proof);
VerdictPart part_of(const TripProof& proof);
VerdictPart part_of(const CheckResult& sampled, bool strict);
VerdictPart part_of(const ExploreRunResult& result, const ExploreRunOptions& options);

}  // namespace warptwin::sim
