#include "sim/run/choices.hpp"

#include <algorithm>

namespace warptwin::sim {

std::string ChoiceProof::scope() const {
  if (names.empty()) {
    return "";
  }
  return complete() ? "for every " + names + " (" + std::to_string(total) + " values)"
                    : "for " + std::to_string(covered) + " of " + std::to_string(total) +
                          " values of " + names;
}

ChoiceProof prove_choices(const ScenarioEntry& scenario,
                          const ParameterSet& parameters,
                          const std::set<std::string>& fixed,
                          const ProofOptions& options,
                          std::uint64_t combinations_max) {
  std::vector<const Parameter*> choices;
  ChoiceProof proof{{}, parameters, 0, 1, {}};
  for (const Parameter& parameter : scenario.parameters) {
    if (parameter.choice && !fixed.contains(parameter.name)) {
      choices.push_back(&parameter);
      proof.names += (proof.names.empty() ? "" : ", ") + std::string{parameter.name};
      const auto values = static_cast<std::uint64_t>(parameter.maximum - parameter.minimum) + 1;
      // Saturates: only "more than the bound" matters beyond it.
      proof.total = proof.total > (std::uint64_t{1} << 40) / values ? std::uint64_t{1} << 40
                                                                    : proof.total * values;
    }
  }
  // The values as they were given come first: what a user has set up is reported first.
  proof.result = prove(scenario, parameters, options);
  proof.covered = 1;
  const std::uint64_t bound = std::min(proof.total, combinations_max);
  bool given_seen = false;
  const auto goes_on = [](ProofVerdict verdict) {
    return verdict == ProofVerdict::kProved || verdict == ProofVerdict::kAccepted;
  };
  for (std::uint64_t number = 0; proof.covered < bound && goes_on(proof.result.verdict); ++number) {
    ParameterSet at = parameters;
    std::uint64_t rest = number;
    for (const Parameter* choice : choices) {
      const auto values = static_cast<std::uint64_t>(choice->maximum - choice->minimum) + 1;
      at.set(choice->name, choice->minimum + static_cast<std::int64_t>(rest % values));
      rest /= values;
    }
    if (!given_seen && at.to_string() == parameters.to_string()) {
      given_seen = true;
      continue;
    }
    ProofResult next = prove(scenario, at, options);
    ++proof.covered;
    if (proof.result.verdict == ProofVerdict::kProved || next.verdict != ProofVerdict::kProved) {
      proof.result = std::move(next);
      proof.at = at;
    }
  }
  return proof;
}

}  // namespace warptwin::sim
