/// The proof of kernels whose clusters claim each other's tiles (cluster launch control): for every
/// number of tiles that a cluster may get, from one run of each number, until the runs turn
/// regular (docs/proof.md, theorem 4).

#pragma once

#include <cstdint>
#include <optional>

#include "sim/run/proof/prove.hpp"

namespace warptwin::sim {

/// `honest` is the run in which a request gets what is left: proved, or unordered. The result is
/// it, with the numbers of tiles that it stands for; or that of the first number which is not
/// proved.
ProofResult prove_claims(const ScenarioEntry& scenario,
                         const ParameterSet& parameters,
                         const ProofOptions& options,
                         ProofResult honest);

/// The same without a run in which a request gets what is left: theorem 4 asks for none. Nothing
/// where clusters claim no tiles, or where something is not proved.
std::optional<ProofResult> prove_claims_alone(const ScenarioEntry& scenario,
                                              const ParameterSet& parameters,
                                              const ProofOptions& options);

/// The launch that is `proved`, under rules by which each interleaving does no more and no less is
/// in order, and a cluster may but wait for good: CTA pairs that come together. All clusters do the
/// same, so the first is proved. Returns the operations of its runs; nothing where clusters claim
/// no tiles, or where a number of tiles is not proved, or does other work than in `proved`.
std::optional<std::uint64_t> prove_first_cluster(const ScenarioEntry& scenario,
                                                 const ParameterSet& parameters,
                                                 const ProofOptions& options,
                                                 const ProofResult& proved);

}  // namespace warptwin::sim
