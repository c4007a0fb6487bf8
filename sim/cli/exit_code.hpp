/// What a command's exit code says. docs/verdicts.md has the table.

#pragma once

#include "sim/run/choices.hpp"
#include "sim/run/prove.hpp"
#include "sim/run/trip_counts.hpp"

namespace warptwin::sim {

enum class ExitCode : int {
  kClean = 0,
  kFinding = 1,
  kUsage = 2,
  kInternal = 3,
  kDevice = 4,
  kIncomplete = 5,
};

/// What two parts of one answer say together: an internal error hides nothing less, a finding
/// outweighs what is incomplete, and only what is clean in both is clean.
ExitCode worse(ExitCode a, ExitCode b);

/// With `strict`, warnings are findings.
ExitCode exit_of(const RunResult& result, bool strict);
ExitCode exit_of(const ProofResult& result, bool strict);
/// Incomplete where not every combination of choices was proved.
ExitCode exit_of(const ChoiceProof& proof, bool strict);
/// A finding where some trip count is refuted; incomplete where the claim is not shown.
ExitCode exit_of(const TripProof& proof);

}  // namespace warptwin::sim
