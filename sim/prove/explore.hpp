/// The second opinion: every interleaving of a protocol, one by one, with the hardware's parity
/// semantics and no happens-before anywhere.
///
/// A state is how far each agent is. That is enough: until the first operation that acts in another
/// phase than in the canonical run, a barrier's state follows from which operations were executed,
/// not from their order. The search ends at the first such operation, or at a deadlock.
///
/// Reduction (sound for both): an operation that changes no barrier, and that nothing can disable
/// or make wrong, is executed at once and alone. These are a kAfter whose operation is done; a wait
/// on an exact barrier; and a wait for phase n whose own agent owes an arrival of phase n + 1 after
/// it (or when no phase n + 1 completes), for the barrier then cannot leave phase n + 1 before.
/// What the others can do, and whether it is right, is the same before and after it. Programs have
/// no loops, so no cycle can hide anything.
///
/// Symmetry: agents with the same operations on which nobody else depends are interchangeable; of
/// all their orders one is kept.

#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sim/prove/protocol.hpp"

namespace warptwin::sim {

struct ExploreOptions {
  bool reduce = true;
  bool symmetry = true;
  std::uint64_t states_max = 100'000'000;
};

enum class Explored : std::uint8_t {
  kRight,       // every interleaving was tried, and each ends and acts in the canonical phases
  kWrong,       // `path` leads to one that does not
  kIncomplete,  // a bound was hit: nothing is known
};

struct ExploreResult {
  Explored verdict = Explored::kIncomplete;
  std::uint64_t states = 0;
  std::uint64_t transitions = 0;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> path;  // (agent, operation), in order
  std::string what;  // what goes wrong at its end, or which bound was hit
};

/// Searches the protocol, whose canonical run is `run`.
ExploreResult explore(const Protocol& protocol,
                      const CanonicalRun& run,
                      const ExploreOptions& options = {});

}  // namespace warptwin::sim
