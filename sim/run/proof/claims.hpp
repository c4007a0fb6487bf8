/// The proof of kernels whose clusters claim each other's tiles (cluster launch control): for every
/// number of tiles that a cluster may get, from one run of each number, until the runs turn
/// regular (docs/proof.md, theorem 4).

#pragma once

#include "sim/run/proof/prove.hpp"

namespace warptwin::sim {

/// `honest` is the run in which a request gets what is left: proved, or unordered. The result is
/// it, with the numbers of tiles that it stands for; or that of the first number which is not
/// proved.
ProofResult prove_claims(const ScenarioEntry& scenario,
                         const ParameterSet& parameters,
                         const ProofOptions& options,
                         ProofResult honest);

}  // namespace warptwin::sim
