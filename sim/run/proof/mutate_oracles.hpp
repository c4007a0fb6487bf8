/// The oracles that judge mutants.

#pragma once

#include <vector>

#include "sim/run/proof/mutate.hpp"

namespace warptwin::sim {

struct MutateOracleOptions {
  std::uint32_t interleavings = 4;          // of the memory order; one more is in turn
  std::uint64_t values_states_max = 2'000;  // of all interleavings; beyond: no opinion
  /// A program with more operations is not searched through: it has more interleavings.
  std::size_t values_operations_max = 200;
};

/// The memory order of a few executions (sim/oracle/relation), then all interleavings with their
/// values (sim/oracle/values). Both are said as the profile `practical` has them.
///
/// A program whose clusters ask for each other's tiles is judged by neither: they would let the
/// requests end otherwise than its warps were written down for.
std::vector<Oracle> mutate_oracles(const MutateOracleOptions& options = {});

}  // namespace warptwin::sim
