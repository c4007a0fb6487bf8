/// Whether data decides what a kernel does, where none moves.

#pragma once

#include "sim/run/proof/prove.hpp"

namespace warptwin::sim {

/// Whether words of data that the kernel reads decide what it does, as far as other words show it.
bool data_decides(const ScenarioEntry& scenario,
                  const ParameterSet& parameters,
                  const RunOptions& run,
                  const ProofResult& proved);

}  // namespace warptwin::sim
