/// Proves a launch for every value of its choices: parameters that something outside the kernel
/// decides (Parameter::choice). Where there are too many, for as many as the bound allows,
/// and then it says so.

#pragma once

#include <set>
#include <string>

#include "sim/run/proof/prove.hpp"

namespace warptwin::sim {

struct ChoiceProof {
  /// The one that outweighs the others, of several such the first; else the last. `at` are its
  /// parameters. Only one that is refuted, or that hits its bound, ends the search at once.
  ProofResult result;
  ParameterSet at;
  std::uint64_t covered = 0;  // combinations of values
  std::uint64_t total = 1;
  std::string names;  // "work"; empty: the scenario has no choice left

  bool complete() const { return covered == total; }
  /// "for every work (256 values)"; empty where there is no choice.
  std::string scope() const;
};

/// Choices named in `fixed` keep the value they have in `parameters`.
ChoiceProof prove_choices(const ScenarioEntry& scenario,
                          const ParameterSet& parameters,
                          const std::set<std::string>& fixed,
                          const ProofOptions& options,
                          std::uint64_t combinations_max = 4096);

}  // namespace warptwin::sim
