/// What an exit code says, and that of each kind of answer. docs/verdicts.md has the table.

#pragma once

#include "sim/run/proof/check.hpp"
#include "sim/run/proof/explore_run.hpp"
#include "sim/run/proof/mutate.hpp"
#include "sim/run/proof/prove.hpp"
#include "sim/run/proof/trip_counts.hpp"
#include "sim/run/time/validate.hpp"

namespace warptwin::sim {

enum class ExitCode : int {
  kClean = 0,
  kFinding = 1,
  kUsage = 2,
  kInternal = 3,
  kDevice = 4,
  kIncomplete = 5,
};

/// "clean", "finding", "usage", "internal", "device" or "incomplete".
const char* name_of(ExitCode code);

/// What two parts of one answer say together: an internal error hides nothing less, a finding
/// outweighs what is incomplete, and only what is clean in both is clean.
ExitCode worse(ExitCode a, ExitCode b);

/// Of one run. With `strict`, warnings are findings.
ExitCode exit_of(const RunResult& result, bool strict);
ExitCode exit_of(const ProofResult& result, bool strict);
/// A finding where some trip count is refuted; incomplete where the claim is not shown.
ExitCode exit_of(const TripProof& proof);
/// Of schedules: a finding where one fails, incomplete where one hit its bound.
ExitCode exit_of(const CheckResult& sampled, bool strict);
ExitCode exit_of(const ExploreRunResult& result);
/// A finding where a mutant was proved that an oracle finds fault with.
ExitCode exit_of(const MutateResult& result);
/// A row that could not be predicted is listed with its reason, and leaves the answer incomplete.
ExitCode exit_of(const Validation& result);

}  // namespace warptwin::sim
