/// The proof of kernels whose clusters claim each other's tiles (cluster launch control): for every
/// number of tiles that a cluster may get, from one run of each number, until the runs turn
/// regular (docs/proof.md, theorem 4).

#pragma once

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

/// The launch that is `proved`, under other rules, which change neither what a cluster does but for
/// its lanes nor what clusters do to each other: CTA pairs that come together, another lane that is
/// elected. All clusters do the same, so the first is proved. Nothing where clusters claim no
/// tiles, or where a number of tiles is not proved, or does other work than in `proved`.
std::optional<ProofResult> prove_first_cluster(const ScenarioEntry& scenario,
                                               const ParameterSet& parameters,
                                               const ProofOptions& options,
                                               const ProofResult& proved);

}  // namespace warptwin::sim
