/// Whether it can matter which lane `elect.sync` elects: "d: the leader thread", says the manual
/// (PTX ISA, "elect.sync"), and not which lane that is.

#pragma once

#include "common/kernel/scenario.hpp"

#include "sim/run/proof/prove.hpp"

namespace warptwin::sim {

/// Runs the launch with the lowest and with the highest lane elected, in the order of the run that
/// `proved` is of. False where each warp does the same in both between any two of its meetings, or
/// the same with the two lanes exchanged, and so in all that belongs to a thread for good. A proof
/// does not tell lanes by their numbers, and behind a meeting they know the same: so it holds of
/// both elections.
bool election_matters(const ScenarioEntry& scenario,
                      const ParameterSet& parameters,
                      const RunOptions& run,
                      const ProofResult& proved);

}  // namespace warptwin::sim
