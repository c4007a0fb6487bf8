/// What a scenario's warps did in one run, as a program.

#pragma once

#include "sim/program/program.hpp"
#include "sim/run/simulate.hpp"

namespace warptwin::sim {

/// The operations of every warp in the canonical run, the one that a proof looks at: straight-line,
/// with the scenario's launch, symbols and sites. No data moves. A try that was repeated is a wait
/// behind the first look: in the canonical run every try says no.
///
/// What is done to registers between operations is no operation. A store of registers that no
/// tcgen05.ld filled is one of registers that hold zeros; what is computed of those that no wait
/// has settled counts as the last ones loaded.
///
/// Where clusters ask for the tiles of others, what they do depends on the answers: `options` says
/// how many tiles the first cluster gets (`schedule.tiles`, above 1), and the others do nothing. It
/// is to be proved under the same schedule, by `prove_run`. Of the schedule nothing else counts.
///
/// A scenario that does not end gives what its warps came to, with what they are held at. One that
/// meets `options.limits` throws ConfigError.
Program extract(const ScenarioEntry& scenario,
                const ParameterSet& parameters,
                const RunOptions& options = {});

}  // namespace warptwin::sim
