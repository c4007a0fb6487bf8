#include "sim/run/proof/choices.hpp"

#include <algorithm>

namespace warptwin::sim {

// Further values that are proved where one is neither proved nor refuted.
static constexpr std::uint64_t kOpenMax = 64;

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
  // What is open at one value may go wrong at another: some more are tried.
  std::uint64_t open = 0;
  const auto goes_on = [&](ProofVerdict verdict) {
    open += outweighs(verdict, ProofVerdict::kAccepted) ? 1 : 0;
    return !outweighs(verdict, ProofVerdict::kUndecided) && open <= kOpenMax;
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
    if (proof.result.verdict == ProofVerdict::kProved ||
        outweighs(next.verdict, proof.result.verdict)) {
      proof.result = std::move(next);
      proof.at = at;
    }
  }
  return proof;
}

}  // namespace warptwin::sim
